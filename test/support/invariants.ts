/**
 * The promises of this software as a program: run it after anything, once nothing is due any more, and it
 * names what does not hold. It reads our database, the stand-in's ledger and call log, the receiver of
 * releases, captured logs, and the traffic: every exchange, every call, every connection (traffic/). Where
 * each of the thirty-two is checked:
 *
 * - invariants/in-the-database.ts: I1 I2 I4 I9 I12 I15 I17 I18 I19 I21 I22 I23.
 * - invariants/at-the-service.ts: I1 I3 I5 I8 I9 I11 I13 I14 (stored addresses) I15 I16 (schedule and hints)
 *   I20 I22 (times).
 * - invariants/in-the-traffic.ts: I6 I7 I16 (calls in flight, Retry-After per address) I27.
 * - invariants/in-the-answers.ts: I10 I14 I24 I25 I26.
 * - here: I2 and I12 (receiver, acknowledged webhooks), I6 (rows). invariants/leaks.ts: I28.
 * - test/invariants: I29 clocks.test.ts, I31 replay.test.ts (deeds in a row; no interleavings), I32
 *   planted.test.ts.
 * - test/prisma/migrations.test.ts: I30, that migrations only add. Two versions at once: `npm run chaos`,
 *   fault `upgrade`.
 *
 * What is weaker than the promise: I7 sees connections and not name lookups; I16 does not count repeated
 * calls, as one layer repeats, and holds Retry-After per payment; I26 compares bytes, not times; I27 samples;
 * I29 moves what can be moved in a test (column defaults stay on the true clock); all of PostgreSQL's clock
 * jumps in `npm run chaos`.
 */
import type { Queryable } from '../../src/platform/database/database.ts';
import { againstTheService, moneyAddsUp, unknownVerified } from './invariants/at-the-service.ts';
import { IN_THE_DATABASE } from './invariants/in-the-database.ts';
import { inTheAnswers } from './invariants/in-the-answers.ts';
import { inTheTraffic } from './invariants/in-the-traffic.ts';
import { findKey, personalData } from './invariants/leaks.ts';
import type { Traffic } from './traffic/traffic.ts';
import { readOrphans, readPayments, readServiceBooks, type ServiceBooks } from './invariants/observed.ts';

/** One delivery of a release, as its receiver saw it. */
export type Delivery = { orderId: string; releaseId: string };

export type Observed = {
  database: Queryable;
  service: ServiceBooks;
  /** Everything that the receiver of releases got. */
  sink?: readonly Delivery[];
  /** Bodies of webhooks that were answered 2xx. */
  acknowledged?: readonly string[];
  /** Log lines. */
  logs?: readonly string[];
  key?: string;
  /** What came in and went out. */
  traffic?: Traffic;
  /** How often the scenario made everything due at once, beside the schedule. */
  passes?: number;
  /** What the time was when the database's clock told so, where that clock was moved. */
  rightTime?: (told: Date) => Date;
};

/** @returns one line per violation, each beginning with the invariant's name; empty when all hold */
export async function checkInvariants({
  sandboxUrl,
  ...observed
}: Omit<Observed, 'service'> & { sandboxUrl: string }): Promise<string[]> {
  return violationsIn({ ...observed, service: await readServiceBooks(sandboxUrl) });
}

/** The same over books that were read before, or made up. */
export async function violationsIn(observed: Observed): Promise<string[]> {
  const { database, service, sink, acknowledged = [], logs = [], key, traffic, passes = 0 } = observed;
  const { rightTime = (told: Date): Date => told } = observed;
  const lines: string[] = [];
  // One after the other: a transaction has one connection.
  for (const { name, broken, sql } of IN_THE_DATABASE) {
    const rows = await database.query<{ what: string }>(sql);
    lines.push(...rows.map(({ what }) => `${name}: ${what} ${broken}`));
  }
  const [count] = await database.query<{ runs: number }>(
    'SELECT count(*)::int AS runs FROM reconciliation_runs',
  );
  const books = {
    ...service,
    payments: await readPayments(database, rightTime),
    orphans: await readOrphans(database),
    runs: count?.runs ?? 0,
    passes,
  };
  lines.push(...againstTheService(books), ...unknownVerified(books), ...moneyAddsUp(books));
  if (sink !== undefined) lines.push(...(await receivedOnce(database, sink)));
  lines.push(...(await keptAll(database, acknowledged)));
  if (logs.length > 0) {
    const bodies = await database.query<{ body: Buffer }>('SELECT body FROM webhooks');
    const texts = bodies.map(({ body }) => body.toString('utf8'));
    lines.push(...new Set(logs.flatMap((line) => personalData(line, texts, key))));
  }
  if (traffic !== undefined) lines.push(...inTheTraffic(traffic, key), ...inTheAnswers(traffic));
  if (key !== undefined) lines.push(...(await keyInRows(database, key)));
  return lines;
}

/** I6: no row of any table holds the key, not even in bytes, which stand as hex in such a text. */
async function keyInRows(database: Queryable, key: string): Promise<string[]> {
  const tables = await database.query<{ name: string }>(
    `SELECT table_name AS name FROM information_schema.tables WHERE table_schema = 'public' AND table_type = 'BASE TABLE'`,
  );
  const lines: string[] = [];
  for (const { name } of tables) {
    const rows = await database.query<{ row: string }>(`SELECT to_jsonb(t)::text AS row FROM "${name}" t`);
    if (rows.some(({ row }) => findKey(row, key).length > 0))
      lines.push(`I6: a row of ${name} holds the key`);
  }
  return lines;
}

/**
 * I2 at the receiver: only paid orders, each under the one id of its release, and every delivered one
 * arrived.
 */
async function receivedOnce(database: Queryable, sink: readonly Delivery[]): Promise<string[]> {
  const releases = await database.query<{ id: string; orderId: string; delivery: string }>(
    'SELECT id, order_id AS "orderId", delivery FROM releases',
  );
  const idOf = new Map(releases.map(({ id, orderId }) => [orderId, id]));
  const arrived = new Set(sink.map(({ releaseId }) => releaseId));
  return [
    ...sink
      .filter(({ orderId, releaseId }) => idOf.get(orderId) !== releaseId)
      .map(({ orderId, releaseId }) => `I2: order ${orderId} was delivered under ${releaseId}, not its own`),
    ...releases
      .filter(({ id, delivery }) => delivery === 'delivered' && !arrived.has(id))
      .map(({ id }) => `I2: release ${id} counts as delivered and never arrived`),
  ];
}

/** I12: what was acknowledged is on disk. */
async function keptAll(database: Queryable, acknowledged: readonly string[]): Promise<string[]> {
  if (acknowledged.length === 0) return [];
  const rows = await database.query<{ at: string }>(
    `SELECT at FROM unnest($1::text[]) WITH ORDINALITY AS given (body, at)
     WHERE NOT EXISTS (SELECT FROM webhooks w WHERE w.body_sha256 = sha256(convert_to(given.body, 'UTF8')))`,
    [acknowledged],
  );
  return rows.map(({ at }) => `I12: webhook ${at} of those acknowledged was not kept`);
}
