import { createHash } from 'node:crypto';
import type { JournalEntry, Mode, Prisma, PrismaClient } from '../platform/prisma/client.ts';
import { isInProof } from '../payments/aggregate.ts';
import { atText, whenText, type View } from '../custom/days.ts';
import { amountText, caseWords, masked, orderWords, TEXTS, TOLD, TOLD_PAYMENT, totalsOf } from './words.ts';
import { isRestAsked, whoText, wordsOf, write, type Told, type ToldPayment, type Words } from './words.ts';

const ROLES: Record<string, string> = TEXTS.roles;

type Subject = { orderId?: string; reference?: string };

/**
 * The story of one order or of one unmatched payment. Amounts are texts like `NGN 12,750.00`, and
 * the customer's address is masked.
 * @returns null: this mode has no such order or payment
 */
export async function explain(prisma: PrismaClient, mode: Mode, subject: Subject, view: View, withEvidence = false) {
  const { reference = '', orderId } = subject;
  const payment = await prisma.payment.findFirst({ where: { mode, reference }, include: TOLD_PAYMENT });
  const id = orderId ?? payment?.orderId ?? '';
  const order = await prisma.order.findFirst({ where: { id, mode }, include: TOLD });
  if (order === null && payment === null) return null;
  const payments = order?.payments ?? (payment ? [payment] : []);
  const about = { reference: { in: payments.map((one) => one.reference) } };
  // Journal lines about an unmatched payment name no order until a person assigns it to one.
  const written = [{ orderId: id }, { orderId: null, ...about }];
  const journal = await prisma.journalEntry.findMany({ where: { OR: written }, orderBy: { id: 'asc' } });
  return {
    orderId: order?.id ?? null,
    externalId: order?.externalId ?? null,
    mode,
    customer: order && masked(order.email),
    words: order ? orderWords(order, view) : unmatchedWords(payment, view),
    money: moneyTable(order, payments),
    payments: payments.map((payment) => paymentLine(payment, order)),
    happened: happenedOf(journal, order),
    next: nextSteps(order, payments, view),
    chain: { entries: journal.length, brokenAt: await brokenAt(prisma, id) },
    ...(withEvidence && { evidence: await evidenceOf(prisma, about) }),
  };
}
export type Story = NonNullable<Awaited<ReturnType<typeof explain>>>;

/** The words of an unmatched payment, from its newest case if there is one. */
function unmatchedWords(payment: ToldPayment | null, view: View): Words {
  const newest = payment?.cases.at(-1);
  if (payment === null || newest === undefined) return wordsOf(TEXTS.states, 'unmatched');
  if (newest.closedAt === null || newest.decision === null) return caseWords({ ...newest, payment, order: null }, view);
  const { currency, held, missing, closedBy, closedAt, decision } = newest;
  return wordsOf(TEXTS.states, 'unmatchedClosed', {
    held: amountText({ amount: held > 0n ? held : missing, currency }),
    decidedBy: whoText(closedBy),
    decidedOn: atText(closedAt, view),
    decision: TEXTS.decisions[decision] ?? decision,
  });
}

function moneyTable(order: Told | null, payments: readonly ToldPayment[]) {
  const shown = payments.flatMap(({ ledgers }) => ledgers.map(({ currency }) => currency));
  return [...new Set(order ? [order.currency, ...shown] : shown)].map((currency) => {
    const { received, outflow, held, ours, notShown, offProvider } = totalsOf(payments, currency);
    const text = (amount: bigint): string => amountText({ amount, currency });
    const price = order?.currency === currency ? amountText(order) : null;
    // Received less outflow less this is held and ours.
    const unreported = notShown + offProvider;
    return {
      price,
      received: text(received),
      outflow: text(outflow),
      notShown: unreported > 0n ? text(unreported) : null,
      held: text(held),
      ours: text(ours),
    };
  });
}

function paymentLine(payment: ToldPayment, order: Told | null) {
  const { reference, ledgers, createdAt: at } = payment;
  const totals = ledgers.map(({ currency }) => ({ currency, ...totalsOf([payment], currency) }));
  const withMoney = totals.filter(({ received }) => received > 0n);
  const isHeld = totals.some(({ held }) => held > 0n);
  const role = roleOf(payment, order, isHeld);
  const texts = withMoney.map(({ received, currency }) => amountText({ amount: received, currency }));
  return { received: texts.join(' and ') || null, role, at, reference };
}

/** The role of a payment in its order, in words for people. */
function roleOf(payment: ToldPayment, order: Told | null, isHeld: boolean): string {
  if (order !== null && isInProof(order, payment.reference)) return 'paid this order';
  if (!isHeld && totalsOf([payment], payment.currency).returned > 0n) return 'refunded';
  if (!isHeld) return ROLES[payment.status] ?? payment.status;
  const isPart = order !== null && order.partPaid > 0n && isRestAsked(payment);
  return isPart ? 'held until the rest is paid' : 'held for you to decide';
}

/** The events as sentences. A repeated sentence becomes one line. */
function happenedOf(journal: readonly JournalEntry[], order: Told | null) {
  const told = withoutRepeatedClasses(journal.filter(isTold));
  const sent = order?.messages.flatMap(({ sentAt }) => sentAt ?? []) ?? [];
  const lines = [
    ...told.map((entry) => ({ at: entry.at, text: sentenceOf(entry) })),
    ...sent.map((at) => ({ at, text: 'Sent to shipping.' })),
  ];
  const folded: { at: Date; until: Date; times: number; text: string }[] = [];
  for (const { at, text } of lines.sort((a, b) => Number(a.at) - Number(b.at))) {
    const last = folded.at(-1);
    if (last?.text === text) Object.assign(last, { until: at, times: last.times + 1 });
    else folded.push({ at, until: at, times: 1, text });
  }
  return folded;
}

/** Leaves out changes of a case that keep its class: only its evidence or its amount changed. */
function withoutRepeatedClasses(journal: readonly JournalEntry[]): JournalEntry[] {
  const classes = new Map<string | null, string>();
  return journal.filter(({ what, reference, data }) => {
    const { class: name } = data as { class?: string };
    if (name === undefined) return true;
    const isRepeated = what === 'case changed' && classes.get(reference) === name;
    classes.set(reference, name);
    return !isRepeated;
  });
}

/**
 * Leaves out statuses, held money and missing money, because they follow from other lines. Leaves
 * out figures that shrank, because they corrected themselves.
 */
function isTold({ what, counter, amount }: JournalEntry): boolean {
  const isStatus = /^order (paid|pending|review|failed|expired|cancelled)$/.test(what);
  return !isStatus && counter !== 'held' && counter !== 'missing' && (amount === null || amount > 0n);
}

/** Looks up the sentence by event and counter, then by counter, then by event. */
function sentenceOf({ what, counter, amount, currency, by, data }: JournalEntry): string {
  const { happened, cases } = TEXTS;
  const said = data as Record<string, string | null>;
  const why = said.note ?? said.reason;
  return write(happened[`${what} ${counter ?? ''}`] ?? happened[counter ?? what] ?? happened.any ?? '', {
    what,
    by: whoText(by),
    why: why ? `: “${why}”` : '.',
    decision: TEXTS.decisions[said.decision ?? ''] ?? '',
    amount: amount === null || currency === null ? '' : amountText({ amount, currency }),
    word: said.word ? `“${said.word}”` : (said.outcome?.replace('_', ' ') ?? ''),
    number: said.number ? `, number ${said.number}` : '',
    badge: cases[said.class ?? '']?.badge ?? '',
  });
}

/** What the program does next by itself, and when. */
function nextSteps(order: Told | null, payments: readonly ToldPayment[], view: View): string[] {
  const step = (what: string, at: Date | null) => (at === null ? [] : `${what} ${atText(at, view)}.`);
  const again = (error: string | null): string => (error === null ? '' : ` again (${error})`);
  const unheld = order?.messages.filter(({ heldBy }) => heldBy === null) ?? [];
  return [
    ...payments.flatMap((one) => step(`We ask the payment service about ${one.reference} again`, one.nextCheckAt)),
    ...unheld.flatMap((one) => step(`We send it to shipping${again(one.lastError)}`, one.nextTryAt)),
  ];
}

/** @returns the id of the first entry that was changed or whose predecessor is gone; null: none */
async function brokenAt(prisma: PrismaClient, orderId: string): Promise<string | null> {
  // Raw: chain_journal in the migration hashes PostgreSQL's own text of the row.
  const [broken] = await prisma.$queryRaw<{ id: bigint }[]>`
    SELECT id FROM (SELECT *, lag(hash) OVER (ORDER BY id) AS before FROM journal WHERE order_id = ${orderId}) AS entry
    WHERE hash IS DISTINCT FROM sha256(coalesce(before, ''::bytea) || convert_to(jsonb_build_array(id, order_id,
      reference, what, "by", counter, amount, currency, data, extract(epoch FROM at))::text, 'UTF8'))
    ORDER BY id LIMIT 1`;
  return broken === undefined ? null : String(broken.id);
}

/**
 * The verifications, oldest first. `sha256` is the digest of the body. Both are null once retention
 * has emptied the body.
 */
async function evidenceOf(prisma: PrismaClient, where: Prisma.VerificationWhereInput) {
  const answers = await prisma.verification.findMany({ where, orderBy: { id: 'asc' } });
  return answers.map(({ at, reference, serviceId, httpStatus, word, outcome, body }) => ({
    at,
    reference,
    serviceId,
    httpStatus,
    word: word ?? outcome,
    sha256: body && createHash('sha256').update(body).digest('hex'),
    body: body && Buffer.from(body).toString('utf8'),
  }));
}

/** The parts of the story, each with its lines. */
export function partsOf({ money, payments, happened, next, chain, evidence = [] }: Story, view: View) {
  const said = (value: unknown): string => (value instanceof Date ? whenText(value, view) : String(value));
  const line = (cells: object): string => {
    const known = Object.entries(cells).filter(([, value]) => value !== null);
    return known.map(([name, value]) => `${name} ${said(value)}`).join(', ');
  };
  const whole = `The record is complete: ${chain.entries} entries, none changed.`;
  const broken = `The record was changed: entry ${String(chain.brokenAt)} is not as it was written.`;
  return {
    'The money': [...money, ...payments].map(line),
    'What happened': happened.map(({ at, until, times, text }) => {
      return `${said(at)}  ${text}${times > 1 ? ` (${times} times, until ${said(until)})` : ''}`;
    }),
    'What is next': next.length > 0 ? next : ['Nothing by itself.'],
    'The record': [chain.brokenAt === null ? whole : broken, ...evidence.map(line)],
  };
}

/** The story as text for a terminal. */
export function textOfStory(story: Story, view: View): string {
  const { words, orderId, externalId, customer, payments, mode } = story;
  const title = [orderId ?? payments[0]?.reference, externalId, customer, `${mode} mode`].filter(Boolean).join(' · ');
  const parts = Object.entries(partsOf(story, view)).map(([name, lines]) => ['', name, ...lines].join('\n  '));
  return [title, '', `${words.badge}. ${words.sentence}`, `Now: ${words.next}`, ...parts].join('\n');
}
