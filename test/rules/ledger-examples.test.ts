import { expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import type { HistoryRow } from '../../src/ledger/history.ts';
import type { Answer } from '../../src/ledger/sources.ts';
import { LedgerShop } from './ledger-shop.ts';

// The table of examples in the docs is the test. Each step is read from there.
const PAGE = readFileSync(new URL('../../docs/order-life.md', import.meta.url), 'utf8');
const ROW = /^\| (?<title>[^|]*) \| (?<step>[^|]+) \| +(?<figures>-?\d+ +\| +\d+ +\| +\d+ +\| +\d+ +\| +\d+) +\|$/;

type Step = { text: string; figures: number[] };
const EXAMPLES = new Map<string, Step[]>();
let title = '';
for (const line of PAGE.split('\n')) {
  const row = ROW.exec(line)?.groups;
  if (row === undefined) continue;
  title = row.title?.trim() === '' ? title : (row.title?.trim() ?? '');
  const step = { text: row.step?.trim() ?? '', figures: (row.figures ?? '').split('|').map(Number) };
  EXAMPLES.set(title, [...(EXAMPLES.get(title) ?? []), step]);
}

const DAY_MS = 86_400_000;
const HALF_AN_HOUR_MS = 1_800_000;

/**
 * `[ID] AMOUNT[, N refunded]`, `[ID] reversed`, `failed` or `pending`. A charge without an id is
 * c1.
 */
function answerOf(text: string): Answer {
  const { id, amount, refunded, word } =
    /^(?:(?<id>[cx]\d) )?(?:(?<amount>\d+)(?:, (?<refunded>\d+) refunded)?|(?<word>\w+))$/.exec(text)?.groups ?? {};
  const answer = { id: id ?? 'c1', isHere: true, received: null, balance: 0n, isDoubted: false };
  if (word === 'reversed' || word === 'failed') return { ...answer, outcome: word };
  if (word === 'pending') return { ...answer, outcome: 'unproven' };
  if (amount === undefined) throw new Error(`no answer: ${text}`);
  const received = BigInt(amount);
  return { ...answer, outcome: 'paid', received, balance: received - BigInt(refunded ?? 0) };
}

/** `nothing`, `failed`, or rows: `[ID] AMOUNT[ less N]`, `[ID] -AMOUNT`, `[ID] reversed AMOUNT`. */
function rowsOf(text: string): HistoryRow[] {
  if (text === 'nothing' || text === 'failed') return [];
  return text.split(', ').map((row) => {
    const { id, reversed, minus, amount, less } =
      /^(?:(?<id>[cx]\d) )?(?<reversed>reversed )?(?<minus>-)?(?<amount>\d+)(?: less (?<less>\d+))?$/.exec(row)
        ?.groups ?? {};
    if (amount === undefined) throw new Error(`no row: ${row}`);
    const sum = BigInt(amount);
    const about = { isReversed: reversed !== undefined, isDoubted: false };
    if (minus !== undefined) return { ...about, id: id ?? null, received: 0n, outflow: sum };
    return { ...about, id: id ?? 'c1', received: sum, outflow: reversed === undefined ? BigInt(less ?? 0) : sum };
  });
}

/**
 * Executes one step of the table.
 * @returns false if the step is unknown
 */
function take(shop: LedgerShop, text: string, now: Date): boolean {
  const [, what = '', withoutIds, rest = ''] =
    /^(verify|history|beyond reach: history) (without ids? )?(.+)$/.exec(text) ?? [];
  const hideId = <One extends { id: string | null }>(one: One): One =>
    withoutIds === undefined ? one : { ...one, id: null };
  if (what === 'verify') shop.verify(hideId(answerOf(rest)), now);
  else if (what !== '') shop.history(rowsOf(rest).map(hideId), now, what === 'history', rest !== 'nothing');
  else return decide(shop, text, now);
  return true;
}

function decide(shop: LedgerShop, text: string, now: Date): boolean {
  const refund = /^orders refund (\d+)( by bank transfer)?$/.exec(text);
  const booked = /^(\d+) is booked as recovered$/.exec(text);
  const decision = /^(accept|refund|keep|write off|explain)( by bank transfer)?$/.exec(text);
  if (refund) shop.refund(BigInt(refund[1] ?? 0), refund[2] !== undefined, now);
  else if (booked) shop.book({ recovered: BigInt(booked[1] ?? 0) }, now);
  else if (text === 'the order ends') shop.isEnded = true;
  else if (text === 'the order is reopened') shop.isEnded = false;
  else if (decision) {
    const as = (decision[1] ?? '').replace(' ', '-') as 'accept';
    expect(shop.decide(as, decision[2] !== undefined, now)).toBeNull();
  } else return false;
  return true;
}

test('the page contains all worked examples', () => {
  expect(EXAMPLES.size).toBe(62);
});

test.each([...EXAMPLES])('%s', (_, steps) => {
  const shop = new LedgerShop(8500n);
  let now = new Date('2026-03-01T12:00:00Z');
  const seen = steps.map(({ text }) => {
    const isSoon = text.startsWith('half an hour later: ');
    const days = text.startsWith('ten days later: ') ? 10 : 1;
    now = new Date(now.getTime() + (isSoon ? HALF_AN_HOUR_MS : days * DAY_MS));
    // A step may have parts: "the order is reopened: verify 8500".
    const parts = /^(?:half an hour later: |ten days later: |(the order is reopened): )?(.+)$/.exec(text) ?? [];
    for (const part of parts.slice(1)) if (part && !take(shop, part, now)) throw new Error(`no step: ${part}`);
    const { expected, held, missing, notShown, reinstated } = shop.position();
    return { text, figures: [expected, held, missing, notShown, reinstated].map(Number) };
  });
  expect(seen).toEqual(steps);
});
