import type { VNode } from 'preact';
import { dueSeen, type CaseClass } from '../cases/classes.ts';
import { DECISIONS, effectOf, type CaseSituation, type Decision } from '../cases/decisions.ts';
import { shortOf } from '../commands/cases.ts';
import type { Booking } from '../ledger/books.ts';
import { EMPTY } from '../ledger/ledger.ts';
import { ledgerOf } from '../ledger/stored.ts';
import { AGGREGATE, balanceIn, partPaymentOf, verifyBalanceIn } from '../payments/aggregate.ts';
import type { Case, Verification } from '../platform/prisma/client.ts';
import type { Story } from '../reporting/explain.ts';
import { amountText, caseWords, TOLD_CASE, type ToldCase } from '../reporting/words.ts';
import { act, isTyped } from './acts.tsx';
import type { Here } from './frame.tsx';
import * as ui from './parts.tsx';
import { idOf } from './queries.ts';
import words from './words.json' with { type: 'json' };

// The open cases of an order, each with the forms of the decisions that are possible now.

/** A possible decision about a case: its name in forms, its texts and its amount. */
export type End = { value: string; texts: (typeof words.ends)['accept']; sum: string; needsNumber: boolean };
const ENDS: Record<string, End['texts']> = words.ends;
const REFUND_FIRST = ui.line(words.refundFirst);
const TRIED = [...DECISIONS.map((as) => ({ as, elsewhere: false })), { as: 'refund' as Decision, elsewhere: true }];

type Newest = Omit<Verification, 'body'> | null;

/** What the table of decisions looks at. @param newest verify's newest readable answer */
function situationOf(one: ToldCase, newest: Newest): Omit<CaseSituation, 'as' | 'elsewhere'> {
  const { currency, payment, order } = one;
  const row = payment.ledgers.find((some) => some.currency === currency);
  return {
    case: one as Case & { class: CaseClass },
    ledger: row ? ledgerOf(row) : EMPTY,
    order: order && {
      amount: order.amount,
      due: dueSeen(one.evidence, currency) ?? order.amount,
      isPaid: order.proof !== null,
      isEnded: order.endedAt !== null,
      isOurCurrency: order.currency === currency,
    },
    verifyBalance: verifyBalanceIn({ ...payment, verifications: newest === null ? [] : [newest] }, currency),
  };
}

/**
 * The decisions that the table of decisions allows now. An off-provider refund of held money is a
 * checkbox beside the refund, not a decision of its own.
 */
export async function endsOf({ prisma }: Here, one: ToldCase): Promise<End[]> {
  const { currency, reference } = one;
  const where = { reference, outcome: { not: 'unreadable' as const } };
  const newest = await prisma.verification.findFirst({ where, orderBy: { id: 'desc' }, omit: { body: true } });
  const situation = situationOf(one, newest);
  const isNotShown = one.class === 'refund_not_shown';
  return TRIED.flatMap(({ as, elsewhere }): End[] => {
    const effect = effectOf({ ...situation, as, elsewhere });
    // The rest is asked for once, and only if verify's newest answer shows all of the held money.
    const isWhole = newest !== null && balanceIn(newest, currency) === one.held;
    const isUseless = as === 'ask-rest' && (one.closedAt !== null || !isWhole);
    if (typeof effect === 'string' || isUseless || (elsewhere && !isNotShown)) return [];
    const amount = decidedAmount(one, as, effect.booking);
    const value = elsewhere ? `${as} elsewhere` : as;
    const texts = ENDS[isNotShown && as !== 'explain' ? `${value}, not shown` : value];
    const done = texts && { ...texts, done: `${texts.done}${effect.marksPaid ? ' The order is paid.' : ''}` };
    const more = { sum: amountText({ amount, currency }), needsNumber: as === 'refund' && !isNotShown };
    return done ? [{ value, texts: done, ...more }] : [];
  });
}

/**
 * The amount of a decision, in minor units. A refund of held money is what leaves by the person's
 * own act: `returned` also has what left before. Asking for the rest and explaining book nothing.
 */
function decidedAmount({ held, missing }: ToldCase, as: Decision, booking: Booking): bigint {
  const { refunded, recovered, writtenOff, captured = 0n, offProvider = 0n } = booking;
  if (held > 0n) return as === 'refund' ? held - captured : held;
  return refunded ?? recovered ?? writtenOff ?? (offProvider > 0n ? offProvider : missing);
}

/** If one decision is usual for the case's class, the others are collapsed below it. */
function decide(here: Here, one: ToldCase, ends: readonly End[]) {
  const hidden = { id: String(one.id), seen: shortOf(one.digest) };
  const [refund] = words.oneEnd.includes(one.class) ? ends.filter(({ value }) => value === 'refund') : [];
  const others = ends.filter((end) => end !== refund);
  const isRefund = others.some((end) => end.needsNumber);
  const without = ['as', ...(isRefund ? [] : ['number']), ...(isRefund && one.held > 0n ? [] : ['elsewhere'])];
  const chosen = here.typed?.values.get('id') === hidden.id ? here.typed.values.get('as') : null;
  const radios = others.map(({ value, texts, sum }) => (
    <label class="choice">
      <input type="radio" name="as" value={value} checked={value === chosen} required />
      {ui.fill(texts.label, { sum })}
    </label>
  ));
  const choices = <fieldset class="all">{radios}</fieldset>;
  const form = act(
    here,
    'cases decide',
    'Continue',
    { hidden, without },
    isRefund && one.held > 0n && REFUND_FIRST,
    choices,
  );
  if (one.class === 'unit_error')
    return ui.more('Once your developer knows what it is', form, isTyped(here, 'cases decide'));
  if (refund === undefined || here.who.role === 'viewer') return form;
  const options = { hidden: { ...hidden, as: 'refund' }, without: ['note'] };
  return [
    act(here, 'cases decide', ui.fill(refund.texts.label, { sum: refund.sum }), options, REFUND_FIRST),
    ui.more('Or end it otherwise', form, chosen !== null && chosen !== 'refund'),
  ];
}

export const proofLink = (orderId: string): VNode =>
  ui.line(ui.link(`/admin/orders/${orderId}/proof`, 'Proof for the bank'));

/** The open cases, each with the forms that decide it. */
export async function openCases(here: Here, { orderId }: Story): Promise<VNode[]> {
  const about = orderId === null ? { id: idOf(here.id) } : { orderId };
  const where = { ...about, mode: here.mode, closedAt: null };
  const open = await here.prisma.case.findMany({ where, include: TOLD_CASE, orderBy: { id: 'asc' } });
  const notices = open.map(async (one) => {
    const said = caseWords(one, here.view);
    const proof = one.class === 'reversed' && one.orderId !== null && proofLink(one.orderId);
    const form = decide(here, one, await endsOf(here, one));
    return ui.notice(ui.toneOf(said.badge), said.sentence, said.next, proof, form);
  });
  return Promise.all(notices);
}

/** A part payment whose rest is not paid yet can still be accepted, refunded or kept. */
export async function waitingForRest(here: Here, orderId: string | null): Promise<VNode[]> {
  const where = { id: orderId ?? '', mode: here.mode };
  const order = await here.prisma.order.findFirst({ where, include: AGGREGATE });
  const waiting = order?.payments.filter((one) => partPaymentOf(order, one) > 0n) ?? [];
  const forms = waiting.map(async ({ reference }) => {
    const asked = { reference, decision: 'ask-rest' };
    const one = await here.prisma.case.findFirst({ where: asked, include: TOLD_CASE, orderBy: { id: 'desc' } });
    if (one === null) return null;
    const title = `If nobody pays the rest: decide about ${amountText({ ...one, amount: one.held })}`;
    return ui.more(title, decide(here, one, await endsOf(here, one)), isTyped(here, 'cases decide'));
  });
  return (await Promise.all(forms)).filter((form) => form !== null);
}
