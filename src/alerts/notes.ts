import type { Logger } from 'pino';
import type { Mode, PrismaClient } from '../platform/prisma/client.ts';

/**
 * Facts about the installation that one process observes and `doctor`, which is another process,
 * reports. Each fact is a row of the table `settings` and a line of the log, each written at most
 * once an hour.
 */
export type Facts = {
  /** This version of the adapter returned a value that cannot be used. */
  'adapter-fault': { member: string; message: string; version: string };
  /** A request came through a proxy that is not in TRUSTED_PROXIES. */
  'untrusted-proxy': { peer: string; header: string };
};
type Name = keyof Facts;

/**
 * @param about the subject; facts with the same name and subject share one row, which is written at
 * most once an hour
 */
export type Notes = <N extends Name>(name: N, fact: Facts[N], about?: string) => void;

const AGAIN_MS = 3_600_000;
const SENTENCES: Record<Name, string> = {
  'adapter-fault': 'the adapter returned a value that cannot be used',
  'untrusted-proxy':
    'a request came through a proxy that is not in TRUSTED_PROXIES, so all its clients share one limit',
};

/**
 * @returns a function that records a fact; it does not throw, and its caller does not wait for it
 */
export function createNotes(prisma: PrismaClient, mode: Mode, logger: Logger): Notes {
  const notedMs = new Map<string, number>();
  return (name, fact, about = '') => {
    const row = { name: `${rowsOf(mode, name)}${about}`, value: fact, at: new Date() };
    const last = notedMs.get(row.name);
    if (last !== undefined && performance.now() - last < AGAIN_MS) return;
    notedMs.set(row.name, performance.now());
    const fields: object = fact;
    logger.warn(fields, SENTENCES[name]);
    prisma.setting.upsert({ where: { name: row.name }, create: row, update: row }).catch((error: unknown) => {
      logger.warn({ err: error }, 'a fact for doctor could not be recorded');
    });
  };
}

const rowsOf = (mode: Mode, name: Name): string => `${name}:${mode}:`;
const TOLD_FOR_MS = 24 * 3_600_000;

/** The facts of the last day, newest first. */
export async function readNotes<N extends Name>(
  prisma: PrismaClient,
  mode: Mode,
  name: N,
): Promise<(Facts[N] & { at: Date })[]> {
  const at = { gt: new Date(Date.now() - TOLD_FOR_MS) };
  const where = { name: { startsWith: rowsOf(mode, name) }, at };
  const rows = await prisma.setting.findMany({ where, orderBy: { at: 'desc' } });
  return rows.map((row) => ({ ...(row.value as Facts[N]), at: row.at }));
}
