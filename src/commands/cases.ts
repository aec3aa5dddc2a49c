import { z } from 'zod';
import { waitingMessages } from '../alerts/states.ts';
import { DECISIONS } from '../cases/decisions.ts';
import { formatMajor, parseMajor } from '../platform/money.ts';
import { decideCase } from '../reconciliation/decide-case.ts';
import type { Report } from '../reconciliation/report.ts';
import { whenText } from '../custom/days.ts';
import { balanceWords, caseWords, TOLD_CASE, wordsOf, type ToldCase, type Words } from '../reporting/words.ts';
import { GIVEN_UP } from './messages.ts';
import { viewOf } from './named.ts';
import { action, FLAG, refused, TEXT, usageError, type CommandParts } from './registry.ts';
import words from './words.json' with { type: 'json' };

/** A row of the work list, with the action to take. */
function rowOf(one: ToldCase, parts: CommandParts) {
  const { class: name, reference, orderId, currency, openedAt } = one;
  const [held, missing] = [one.held, one.missing].map((amount) => formatMajor({ amount, currency }));
  const { sentence, next } = caseWords(one, viewOf(parts));
  const figures = { held, missing, currency, openedAt, sentence };
  return { row: { id: Number(one.id), class: name, reference, orderId, ...figures }, next };
}

const NO_CASE = { id: null, reference: null, orderId: null, held: null, missing: null, currency: null };

/**
 * Tasks that are not cases: undelivered messages, and problems that the last whole run could not
 * settle.
 */
async function otherRows(parts: CommandParts) {
  const { prisma, policy } = parts;
  const { mode } = policy;
  const waiting = await waitingMessages(parts);
  const messages = await prisma.message.findMany({ where: { mode, ...GIVEN_UP }, orderBy: { seq: 'asc' } });
  const whole = { mode, full: true, verdict: { in: ['agreed', 'findings'] } };
  const run = await prisma.run.findFirst({ where: whole, orderBy: { id: 'desc' } });
  const { history, balances } = (run?.report ?? {}) as Partial<Report>;
  const [at, count] = [run?.startedAt ?? new Date(), String(history?.unreadable ?? 0)];
  const row = (name: string, { sentence, next }: Words, openedAt = at, about: object = {}) => {
    return { row: { ...NO_CASE, class: name, openedAt, sentence, ...about }, next };
  };
  const rows = messages.map(({ id, type, orderId, createdAt }) => {
    return row('message', wordsOf(words.rows, 'message', { id, type }), createdAt, { orderId });
  });
  if (waiting !== null)
    rows.push(row('messages-waiting', { badge: '', sentence: waiting.says, next: `${waiting.todo}.` }, waiting.since));
  if (count !== '0') rows.push(row('unreadable_rows', wordsOf(words.rows, 'unreadable_rows', { count })));
  for (const { currency, difference } of balances ?? []) {
    const amount = parseMajor(difference, currency) ?? 0n;
    if (amount !== 0n) rows.push(row('balance', balanceWords({ amount, currency }), at, { currency }));
  }
  return rows;
}

/**
 * The work list, oldest first, as data and as text.
 * @param all includes the closed cases
 */
export async function workList(parts: CommandParts, all = false) {
  const where = { mode: parts.policy.mode, ...(!all && { closedAt: null }) };
  const cases = await parts.prisma.case.findMany({ where, include: TOLD_CASE, orderBy: { id: 'asc' } });
  const rows = [...cases.map((one) => rowOf(one, parts)), ...(await otherRows(parts))];
  const lines = rows.map(({ row: { id, openedAt, orderId, reference, sentence }, next }) => {
    const about = (orderId ?? reference ?? '').slice(0, 8).padEnd(8);
    return `${id ?? '-'}  ${whenText(openedAt, viewOf(parts))}  ${about}  ${sentence}\n    ${next}`;
  });
  return { data: rows.map(({ row }) => row), sentence: lines.join('\n') || 'There is nothing to do.' };
}

/** @throws {UserFacingError} (64) if there is no such case */
async function findCase({ prisma, policy: { mode } }: CommandParts, id: string): Promise<ToldCase> {
  const found = await prisma.case.findFirst({ where: { id: BigInt(id), mode }, include: TOLD_CASE });
  if (found === null) throw usageError(`There is no case ${id}. The command cases list shows all open cases.`);
  return found;
}

/** The beginning of a digest, long enough to identify it. */
export const shortOf = (digest: Uint8Array): string => Buffer.from(digest).toString('hex').slice(0, 12);

const ID = z.string().regex(/^\d{1,18}$/);
const MAYBE = TEXT.optional();
const DECIDING = { id: ID, as: z.enum(DECISIONS), note: TEXT, number: MAYBE, elsewhere: FLAG, seen: MAYBE };

export const CASES = [
  action('viewer', 'cases list', { all: FLAG }, (parts, { all }) => workList(parts, all)),
  action('viewer', 'cases show ID', { id: ID }, async (parts, { id }) => {
    const one = await findCase(parts, id);
    const { evidence, closedAt, closedBy, decision, note, number } = one;
    const { row, next } = rowOf(one, parts);
    const data = { ...row, next, evidence, seen: shortOf(one.digest), closedAt, closedBy, decision, note, number };
    const facts = Object.entries(data).filter(([, value]) => value !== null);
    return { data, sentence: facts.map(([name, value]) => `${name}: ${JSON.stringify(value)}`).join('\n') };
  }),
  action('operator', 'cases decide ID', DECIDING, async (parts, { id, seen, number = null, ...decision }) => {
    const { digest, orderId } = await findCase(parts, id);
    if (seen !== undefined && seen !== shortOf(digest)) throw refused('changed');
    const isPaid = await decideCase(parts, { ...decision, number, id: BigInt(id), by: parts.by, seen: digest });
    const paid = isPaid ? ` The order ${orderId ?? ''} is paid.` : '';
    return { sentence: `Done: case ${id} is closed, by ${decision.as}.${paid}` };
  }),
];
