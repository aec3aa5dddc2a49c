import type { LedgerEntry } from '../../../local/sandbox/control/entry.ts';
import {
  CHECK_AGES_SEC,
  HINT_PAUSES_SEC,
  HORIZON_SEC,
  LAST_ANSWER_BY_SEC,
} from '../../../src/payments/check-schedule.ts';
import type { Money } from '../../../src/platform/money.ts';
import { isSame, moneyOf, type PaymentRow, type ServiceBooks } from './observed.ts';

export type BothBooks = ServiceBooks & {
  payments: readonly PaymentRow[];
  orphans: readonly (Money & { reference: string })[];
  /** Reconciliations so far: each may ask once more about every payment. */
  runs: number;
  /** How often a test made everything due, which is more often than the schedule would. */
  passes: number;
};

/** One line of both books: what the service has, what we have. At least one of them is there. */
type Pair = { reference: string; there: LedgerEntry | undefined; here: PaymentRow | undefined };

const WATCHED = ['created', 'sending', 'open', 'ambiguous'];

/** What must hold between our books and the service's, once nothing is due any more. */
export function againstTheService(books: BothBooks): string[] {
  return pairsOf(books).flatMap((pair) => [
    ...paidInTruth(books, pair),
    ...nothingLost(books, pair),
    ...inOneClass(books, pair),
    ...wire(books, pair),
    ...askedInTime(books, pair),
  ]);
}

function pairsOf({ ledger, payments }: BothBooks): Pair[] {
  const there = new Map(ledger.map((entry) => [entry.reference, entry]));
  const here = new Map(payments.map((payment) => [payment.reference, payment]));
  const references = [...new Set([...there.keys(), ...here.keys()])];
  return references.map((reference) => ({
    reference,
    there: there.get(reference),
    here: here.get(reference),
  }));
}

/** I1, I11: the service had been paid exactly this, and told us so, before we said paid. */
function paidInTruth({ calls }: BothBooks, { reference, there, here }: Pair): string[] {
  if (!here?.provenAt) return [];
  const by = here.provenAt.getTime();
  const lines: string[] = [];
  let sum = 0n;
  const wasPaid = (there?.payments ?? []).some((payment) => {
    const { amount, currency } = moneyOf(payment);
    sum += amount;
    return (
      isSame({ amount: sum, currency }, { ...here, amount: here.accepted ?? here.amount }) &&
      Date.parse(payment.at) <= by
    );
  });
  if (!wasPaid)
    lines.push(`I1: payment ${reference} released an order, and the service had not been paid that`);
  const asked = calls.log.some(
    (call) =>
      call.endpoint === 'verify' &&
      call.reference === reference &&
      call.status === 200 &&
      Date.parse(call.at) <= by,
  );
  if (!asked) lines.push(`I11: payment ${reference} released an order before any verify call was answered`);
  return lines;
}

/** I3: whatever the service was paid for one of our references has paid an order, or stands in suspense. */
function nothingLost({ orphans }: BothBooks, { reference, there, here }: Pair): string[] {
  if (there?.state !== 'paid' || there.received === null) return [];
  if (here === undefined) {
    return orphans.some((orphan) => orphan.reference === reference)
      ? []
      : [`I3: transaction ${reference} is paid, not ours, and nobody is told`];
  }
  if (here.provenAt === null && here.suspense === null)
    return [`I3: the money of payment ${reference} is lost`];
  // Unless the order had ended, or a person had decided, before it came: then it waits for a person.
  const isLate = here.suspense?.class.startsWith('paid_after_') === true;
  const isOwed = isSame(moneyOf(there.received), here) && here.orderStatus !== 'paid' && !isLate;
  return isOwed ? [`I3: payment ${reference} was paid in full, and its order is ${here.orderStatus}`] : [];
}

/** I5: the classes are asked independently of each other; exactly one must say yes. */
function inOneClass({ orphans }: BothBooks, { reference, there, here }: Pair): string[] {
  const received = !there?.received || there.state === 'reversed' ? null : { ...moneyOf(there.received) };
  const { status = '', suspense = null, ageSec = 0 } = here ?? {};
  const isPaid = there?.state === 'paid';
  const surplus = (received?.amount ?? 0n) - (status === 'paid' ? (here?.amount ?? 0n) : 0n);
  const classes: Record<string, boolean> = {
    orphan: here === undefined && (!isPaid || orphans.some((orphan) => orphan.reference === reference)),
    matched: here?.status === 'paid' && isPaid && received !== null && isSame(received, earnedBy(here)),
    stray: suspense !== null && received !== null && isSame(suspense, { ...received, amount: surplus }),
    // It came, it waits for a person, and meanwhile it went back.
    'stray that went back': status === 'held' && suspense !== null && there?.state === 'reversed',
    failed: ['failed', 'refused'].includes(status) && !isPaid,
    expired: status === 'expired' && !isPaid,
    open:
      WATCHED.includes(status) &&
      ageSec < Math.max(HORIZON_SEC, LAST_ANSWER_BY_SEC) &&
      (there === undefined || there.state === 'pending'),
    questioned: status === 'held' && suspense === null && !isPaid,
    reversed: status === 'paid' && there?.state === 'reversed',
  };
  const member = Object.keys(classes).filter((name) => classes[name]);
  if (member.length === 1) return [];
  return [
    `I5: ${reference} (${there?.state ?? 'absent'} there, ${status || 'absent'} here) is in ${member.join(' and ') || 'no class'}`,
  ];
}

/** I8, I9, I13, I14, I15, I16: what went over the wire for this reference. */
function wire({ calls, runs }: BothBooks, { reference, there, here }: Pair): string[] {
  const { initialize = 0, verify = 0 } = calls.references[reference] ?? {};
  const lines: string[] = [];
  if (here === undefined) return lines;
  if (initialize > 1) lines.push(`I8: payment ${reference} was initialized ${initialize} times`);
  if (there !== undefined && !isSame(moneyOf(there.asked), here))
    lines.push(`I9: payment ${reference} asked for ${there.asked.amount} ${there.asked.currency}`);
  if (here.checkoutUrl !== null && !isCheckoutAddress(here.checkoutUrl))
    lines.push(`I14: payment ${reference} sends its shopper to an address that no browser should open`);
  const modes = [
    there?.mode,
    ...calls.log.filter((call) => call.reference === reference).map(({ mode }) => mode),
  ];
  if (modes.some((mode) => mode && mode !== here.mode))
    lines.push(`I15: payment ${reference} is ${here.mode} here and not there`);
  if (verify > here.checks + runs)
    lines.push(`I16: payment ${reference} was verified ${verify} times for ${here.checks} checks`);
  return lines;
}

/** Of too little that a person accepted, that; else what was asked for. */
function earnedBy({ amount, currency, accepted }: PaymentRow): Money {
  return { amount: accepted && accepted < amount ? accepted : amount, currency };
}

const SHORTEST_PAUSE_SEC = Math.min(...HINT_PAUSES_SEC.filter((pauseSec) => pauseSec > 0));
/** An answer of the clock takes 10 s, its record little more. */
const FRESH_MS = 15_000;

/** I16, I22: asked no more often than schedule and hints allow, and right before anything was closed. */
function askedInTime({ calls, runs, passes }: BothBooks, { reference, here }: Pair): string[] {
  if (here === undefined) return [];
  const lines: string[] = [];
  const { verify = 0 } = calls.references[reference] ?? {};
  // And one at once, where the result of initialize is unknown.
  const scheduled = 1 + CHECK_AGES_SEC.filter((age) => age <= here.ageSec + 1).length;
  // Each answer that said something new gives three checks without a pause; every other one waits ten seconds
  // at least.
  const atOnce = HINT_PAUSES_SEC.filter((pauseSec) => pauseSec === 0).length * (1 + here.news);
  const hinted = Math.min(here.hints, atOnce + Math.floor(here.ageSec / SHORTEST_PAUSE_SEC));
  if (verify > scheduled + hinted + runs + passes)
    lines.push(`I16: payment ${reference} was verified ${verify} times, above its schedule and its hints`);
  const closedMs = here.closedAt?.getTime();
  if (closedMs === undefined) return lines;
  const isFresh = calls.log.some(
    (call) =>
      call.endpoint === 'verify' &&
      call.reference === reference &&
      Date.parse(call.at) <= closedMs &&
      Date.parse(call.at) > closedMs - FRESH_MS,
  );
  if (!isFresh) lines.push(`I22: payment ${reference} was closed and the service was not asked right before`);
  return lines;
}

function isCheckoutAddress(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, hostname, username, password } = new URL(text);
  const isLocal = ['127.0.0.1', 'localhost', '[::1]'].includes(hostname);
  return username + password === '' && (protocol === 'https:' || (protocol === 'http:' && isLocal));
}

/** I13: nobody asked about a reference that is not ours. */
export function unknownVerified({ calls, payments }: BothBooks): string[] {
  const ours = new Set(payments.map(({ reference }) => reference));
  return Object.entries(calls.references)
    .filter(([reference, { verify }]) => verify > 0 && !ours.has(reference))
    .map(([reference]) => `I13: a verify call was made for ${reference}, which is not ours`);
}

/**
 * I20: per mode and currency, what the service was paid = what was earned + what waits + what is not ours.
 */
export function moneyAddsUp({ ledger, payments, orphans }: BothBooks): string[] {
  const books = new Map<string, { there: bigint; here: bigint }>();
  const add = (mode: string, { amount, currency }: Money, side: 'there' | 'here'): void => {
    const book = books.get(`${mode} ${currency}`) ?? { there: 0n, here: 0n };
    book[side] += amount;
    books.set(`${mode} ${currency}`, book);
  };
  const reversed = new Set(
    ledger.filter(({ state }) => state === 'reversed').map(({ reference }) => reference),
  );
  for (const { mode, state, received } of ledger)
    if (state === 'paid' && received !== null) add(mode, moneyOf(received), 'there');
  for (const payment of payments.filter(({ reference }) => !reversed.has(reference))) {
    if (payment.provenAt !== null) add(payment.mode, earnedBy(payment), 'here');
    if (payment.suspense !== null) add(payment.mode, payment.suspense, 'here');
  }
  for (const orphan of orphans) {
    const entry = ledger.find(({ reference }) => reference === orphan.reference);
    if (entry?.state === 'paid') add(entry.mode, orphan, 'here');
  }
  return [...books]
    .filter(([, { there, here }]) => there !== here)
    .map(([book, { there, here }]) => `I20: ${book}: the service was paid ${there}, we account for ${here}`);
}
