import { sleep } from '../../src/platform/clock.ts';
import { formatMajor, minorDigits } from '../../src/platform/money.ts';
import type { Client } from '../../src/gateway/http/client.ts';
import type { Dialect } from '../../src/gateway/dialect/dialect.ts';
import { GatewayKeyRefused, GatewayUnavailable } from '../../src/gateway/errors.ts';
import { readHistory, type HistoryRow } from '../../src/gateway/history/history.ts';
import { BACKGROUND_DEADLINE, verify } from '../../src/gateway/verify.ts';
import { finding, type Finding } from './finding.ts';
import type { Observed, Sent } from './observed.ts';
import { isOneOf } from './places.ts';

export type ReadBackParts = {
  client: Client;
  /** The one that was written, or the one in force where nothing had to be. */
  dialect: Dialect;
  observed: Observed;
  /** Milliseconds between calls. */
  pauseMs: number;
};

/** All calls for the history that `--calls` allows were made. */
class CallsUsedUp extends Error {}

/** What the program made of a record of ours. */
type Reading = Pick<HistoryRow, 'status' | 'statusWord' | 'amount' | 'currency'>;

/** Reads its payments as the program will: by its own verify and by its own history. */
export async function readBack(parts: ReadBackParts): Promise<Finding[]> {
  const findings: Finding[] = [];
  const { calls } = parts.observed.history;
  let { made } = calls;
  const stream: Client['stream'] = async (request) => {
    if (made >= calls.max) throw new CallsUsedUp('the calls for the history are used up (--calls)');
    made += 1;
    await sleep(parts.pauseMs);
    return parts.client.stream(request);
  };
  for (const [about, read] of [
    ['read back by verify', byVerify],
    ['read back by history', byHistory],
  ] as const) {
    const seen = await read({ ...parts, client: { ...parts.client, stream } }).catch((error: unknown) => {
      if (EXPECTED.some((kind) => error instanceof kind)) return (error as Error).message;
      throw error;
    });
    findings.push(
      typeof seen === 'string' ? finding(about, 'cannot tell', seen) : verdictOn(about, seen, parts),
    );
  }
  const isUsedUp = made === calls.max;
  const used = `${made} of at most ${calls.max}${isUsedUp ? ': all of them, so allow more with --calls' : ''}`;
  return [...findings, finding('calls for the history', 'noted', used)];
}

const EXPECTED = [GatewayUnavailable, GatewayKeyRefused, CallsUsedUp];

/** What is wrong with each payment that was read; null: nothing. */
type Faults = (string | null)[];

async function byVerify({ client, dialect, observed, pauseMs }: ReadBackParts): Promise<Faults> {
  const faults: Faults = [];
  for (const payment of observed.sent) {
    await sleep(pauseMs);
    const answer = await verify(client, dialect, payment.reference, observed.currency, BACKGROUND_DEADLINE);
    if (answer.kind !== 'record') faults.push(answer.kind === 'unreadable' ? answer.why : answer.kind);
    else {
      const { reference, amount, currency, contradiction, ...word } = answer.evidence;
      const isOurs = reference.is === 'read' && reference.value === payment.reference;
      const money = {
        amount: amount.is === 'read' ? amount.value : null,
        currency: currency.is === 'read' ? currency.value : null,
      };
      faults.push(
        isOurs
          ? (contradiction ?? faultIn({ ...word, ...money }, payment, observed))
          : 'our reference is not read',
      );
    }
  }
  return faults;
}

async function byHistory({ client, dialect, observed }: ReadBackParts): Promise<Faults | string> {
  const { sent, history, askedAt } = observed;
  const listed = sent.filter(({ reference }) => isOneOf(history.walked.rows, [reference]));
  if (listed.length === 0) return 'the list showed none of our payments';
  const rows = new Map<string | null, HistoryRow>();
  let missing = 'is not read in the list';
  for await (const batch of readHistory(client, dialect, { since: askedAt, until: askedAt })) {
    // A row of an attempt beside a paid one changes nothing, as in a reconciliation.
    for (const row of batch.rows)
      if (rows.get(row.reference)?.status !== 'paid') rows.set(row.reference, row);
    if (listed.every(({ reference }) => rows.has(reference))) break;
    if (batch.end?.complete === false) missing = batch.end.reason;
  }
  const isLate = history.agreedSec === null;
  return listed.map((payment) => {
    const row = rows.get(payment.reference);
    return row === undefined ? missing : faultIn(row, payment, observed, isLate);
  });
}

/** @param isLate the list did not show yet that it was paid */
function faultIn(read: Reading, payment: Sent, observed: Observed, isLate = false): string | null {
  const { currency, sent, isSaidPaid, after } = observed;
  const isFirst = payment === sent[0];
  if (read.status === 'unreadable') return 'a record is unreadable';
  if (isFirst && (isLate || !isSaidPaid) && after !== null) return null;
  const expected = isFirst && isSaidPaid ? 'paid' : 'pending';
  if (read.status !== expected)
    return `"${read.statusWord ?? ''}" is read as ${read.status}, and it is ${expected}`;
  if (expected === 'pending') return null;
  if (read.currency !== currency) return `the currency is read as ${read.currency ?? 'none'}`;
  return read.amount === payment.amount ? null : `the amount is read as ${moneyText(read)}`;
}

function verdictOn(
  about: string,
  faults: Faults,
  { observed: { isSaidPaid, sent } }: ReadBackParts,
): Finding {
  const wrong = [...new Set(faults.filter((fault) => fault !== null))];
  if (wrong.length > 0) return finding(about, 'differs', wrong.join('; '));
  const count = `${faults.length} of ${sent.length} payments are read`;
  return finding(
    about,
    'agrees',
    isSaidPaid ? `${count}, the paid one with its amount` : `${count}; nobody paid`,
  );
}

function moneyText({ amount, currency }: Reading): string {
  if (amount === null) return 'none';
  return currency === null || minorDigits(currency) === null
    ? String(amount)
    : `${formatMajor({ amount, currency })} ${currency}`;
}
