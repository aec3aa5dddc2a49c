import type { ComponentChildren as Kids, VNode } from 'preact';
import { dueSeen, type CaseClass } from '../cases/classes.ts';
import { DECISIONS, effectOf, type Decision } from '../cases/decisions.ts';
import { refundableOfAll } from '../ledger/books.ts';
import { EMPTY } from '../ledger/ledger.ts';
import { AGGREGATE, balanceIn, partPaymentOf, verifyBalanceIn } from '../payments/aggregate.ts';
import { ledgerOf } from '../ledger/stored.ts';
import { shortOf } from '../commands/cases.ts';
import { findAction } from '../commands/commands.ts';
import { refused } from '../commands/registry.ts';
import { whenText } from '../custom/days.ts';
import { ORDER_ID } from '../platform/ids.ts';
import { formatMajor, parseMajor } from '../platform/money.ts';
import type { Case } from '../platform/prisma/client.ts';
import { Problem } from '../platform/problem.ts';
import { explain, type Story } from '../reporting/explain.ts';
import { amountText, caseWords, TOLD_CASE, type ToldCase } from '../reporting/words.ts';
import { act, type Sure } from './acts.tsx';
import type { Drawn, Here } from './frame.tsx';
import { emailOf, goodsOf } from './lists.tsx';
import * as ui from './parts.tsx';
import { idOf, WITH_LINES } from './queries.ts';
import { may } from './session.ts';
import words from './words.json' with { type: 'json' };

/** A possible decision about a case: its name in forms, its texts and its amount. */
type End = { value: string; texts: (typeof words.ends)['accept']; sum: string; needsNumber: boolean };
const ENDS: Record<string, End['texts']> = words.ends;
const REFUND_FIRST = ui.line(words.refundFirst);
const TRIED = [...DECISIONS.map((as) => ({ as, elsewhere: false })), { as: 'refund' as Decision, elsewhere: true }];

/**
 * The decisions that the table of decisions allows now. An off-provider refund of held money is a
 * checkbox beside the refund, not a decision of its own.
 */
async function endsOf({ prisma }: Here, one: ToldCase): Promise<End[]> {
  const { currency, payment, order, reference } = one;
  const where = { reference, outcome: { not: 'unreadable' as const } };
  const newest = await prisma.verification.findFirst({ where, orderBy: { id: 'desc' }, omit: { body: true } });
  const row = payment.ledgers.find((some) => some.currency === currency);
  const situation = {
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
  const isNotShown = one.class === 'refund_not_shown';
  return TRIED.flatMap(({ as, elsewhere }): End[] => {
    const effect = effectOf({ ...situation, as, elsewhere });
    // The rest is asked for once, and only if verify's newest answer shows all of the held money.
    const isWhole = newest !== null && balanceIn(newest, currency) === one.held;
    const isUseless = as === 'ask-rest' && (one.closedAt !== null || !isWhole);
    if (typeof effect === 'string' || isUseless || (elsewhere && !isNotShown)) return [];
    const { returned, refunded, retained, recovered, writtenOff, captured, offProvider = 0n } = effect.booking;
    const amount = returned ?? refunded ?? retained ?? recovered ?? writtenOff ?? captured ?? offProvider;
    const value = elsewhere ? `${as} elsewhere` : as;
    const texts = ENDS[isNotShown && as !== 'explain' ? `${value}, not shown` : value];
    const done = texts && { ...texts, done: `${texts.done}${effect.marksPaid ? ' The order is paid.' : ''}` };
    const more = { sum: amountText({ amount, currency }), needsNumber: as === 'refund' && !isNotShown };
    return done ? [{ value, texts: done, ...more }] : [];
  });
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
  const form = act(here, 'cases decide', 'Continue', { hidden, without }, isRefund && REFUND_FIRST, choices);
  if (one.class === 'unit_error') return ui.more('Once your developer knows what it is', form);
  if (refund === undefined || here.who.role === 'viewer') return form;
  const options = { hidden: { ...hidden, as: 'refund' }, without: ['note'] };
  return [
    act(here, 'cases decide', ui.fill(refund.texts.label, { sum: refund.sum }), options, REFUND_FIRST),
    ui.more('Or end it otherwise', form),
  ];
}

/** The open cases, each with the forms that decide it. */
async function openCases(here: Here, { orderId }: Story): Promise<VNode[]> {
  const about = orderId === null ? { id: idOf(here.id) } : { orderId };
  const where = { ...about, mode: here.mode, closedAt: null };
  const open = await here.prisma.case.findMany({ where, include: TOLD_CASE, orderBy: { id: 'asc' } });
  const notices = open.map(async (one) => {
    const said = caseWords(one, here.view);
    return ui.notice(ui.toneOf(said.badge), said.sentence, said.next, decide(here, one, await endsOf(here, one)));
  });
  return Promise.all(notices);
}

/** A part payment whose rest is not paid yet can still be accepted, refunded or kept. */
async function waitingForRest(here: Here, orderId: string | null): Promise<VNode[]> {
  const where = { id: orderId ?? '', mode: here.mode };
  const order = await here.prisma.order.findFirst({ where, include: AGGREGATE });
  const waiting = order?.payments.filter((one) => partPaymentOf(order, one) > 0n) ?? [];
  const forms = waiting.map(async ({ reference }) => {
    const asked = { reference, decision: 'ask-rest' };
    const one = await here.prisma.case.findFirst({ where: asked, include: TOLD_CASE, orderBy: { id: 'desc' } });
    if (one === null) return null;
    const title = `If nobody pays the rest: decide about ${amountText({ ...one, amount: one.held })}`;
    return ui.more(title, decide(here, one, await endsOf(here, one)));
  });
  return (await Promise.all(forms)).filter((form) => form !== null);
}

/**
 * The body of an order's page and of an unmatched payment's page: the state, what to do, the money
 * and the events.
 */
async function bodyOf(here: Here, told: Story, head: Kids, acts: Kids): Promise<Kids> {
  const { prisma, view, who } = here;
  const { words: said, money, payments, happened, next, chain, orderId, evidence } = told;
  const names: Record<string, string> = words.money;
  const sums = money.map((one) => Object.entries(one).map(([name, sum]) => [names[name] ?? name, sum] as const));
  const came = payments.map(({ received: sum, role, at, reference }) =>
    ui.line(
      `${sum ?? 'Nothing received'}, opened `,
      ui.when(at, view),
      ', ',
      <b>{role}</b>,
      ': ',
      <code>{reference}</code>,
    ),
  );
  const story = happened.map(({ at, until, times, text: what }) => {
    const again = times > 1 ? ` (${times} times, until ${whenText(until, view)})` : '';
    return [ui.when(at, view), what + again] as const;
  });
  const messages = await prisma.message.findMany({ where: { orderId: orderId ?? '' }, omit: { seq: true } });
  const facts = JSON.stringify({ orderId, chain, evidence, messages }, withoutBodies, 1);
  const notices = await openCases(here, told);
  const waiting = await waitingForRest(here, orderId);
  return [
    ui.line(ui.badge(said.badge), head),
    notices.length > 0 ? notices : ui.notice(ui.toneOf(said.badge), said.sentence, said.next),
    waiting,
    <div class="two">
      {ui.card('The money', sums.map(ui.detail), came)}
      {ui.card(
        'What happened',
        ui.detail(story),
        next.map((one) => ui.quiet(one)),
      )}
    </div>,
    who.role !== 'viewer' && acts,
    ui.more('For your developer', <pre>{facts}</pre>),
  ];
}

/** Leaves out bodies, because they contain whole addresses. */
const withoutBodies = (name: string, value: unknown): unknown => (name === 'body' ? undefined : value);

const readOrder = ({ prisma, mode }: Here, id: string) =>
  ORDER_ID.test(id) ? prisma.order.findFirst({ where: { id, mode }, include: WITH_LINES }) : null;
type Order = NonNullable<Awaited<ReturnType<typeof readOrder>>>;

/** The page of one order. */
export async function orderPage(here: Here): Promise<Drawn> {
  const { prisma, mode, view } = here;
  const order = await readOrder(here, here.id);
  const story = order && (await explain(prisma, mode, { orderId: order.id }, view, true));
  if (order === null || story === null) return null;
  const email = emailOf(here, order);
  const writeTo = may(here.who, 'clerk') ? ui.link(`mailto:${email}`, email) : email;
  const number = ` · number ${order.externalId ?? order.id.slice(0, 8)}`;
  const theirs = ui.link(`/orders/${order.id}/page`, 'the customer’s page');
  const head = [' ordered ', ui.when(order.createdAt, view), ' by ', writeTo, number, ' · ', theirs];
  const body = await bodyOf(here, story, head, otherActs(here, order));
  return { title: `${goodsOf(order)} · ${amountText(order)}`, body };
}

/** The amount that can still be refunded, in minor units. */
function leftOf({ payments, proof, currency }: Order): bigint {
  const contributing = new Set(proof?.payments.map(({ reference }) => reference));
  const paying = payments.filter(({ reference }) => contributing.has(reference));
  const rows = paying.flatMap(({ ledgers }) => ledgers.filter((one) => one.currency === currency));
  return refundableOfAll(rows.map((row) => ledgerOf(row).books));
}

function otherActs(here: Here, order: Order): VNode {
  const { id, currency, proof, endedAt, messages } = order;
  const hidden = { order: id };
  const left = leftOf(order);
  const refund = act(here, 'orders refund', 'Write it down', { hidden, labels: { amount: `Amount in ${currency}` } });
  const first = ' can still be refunded. ';
  const again = { hidden: { message: messages[0]?.id ?? '' }, without: ['note', 'despite-missing-money'] };
  const isOpen = endedAt === null;
  const end = act(here, isOpen ? 'orders cancel' : 'orders reopen', isOpen ? 'Cancel the order' : 'Reopen', { hidden });
  return ui.card(
    'Do something else',
    left > 0n &&
      ui.more(
        'Write down a refund',
        ui.line(amountText({ amount: left, currency }) + first + words.refundFirst),
        refund,
      ),
    messages.length > 0 && act(here, 'messages resend', 'Send to shipping again', again),
    act(here, 'ask', 'Ask the payment service now', { hidden }),
    proof === null && ui.more(isOpen ? 'Cancel the order' : 'Reopen the order', end),
    ui.more('Add a note', act(here, 'note', 'Add it', { hidden, labels: { note: 'Note' } })),
    ui.line(ui.link(`/admin/orders/${id}/proof`, 'Proof for the bank')),
  );
}

/** The page of an unmatched payment. */
export async function casePage(here: Here): Promise<Drawn> {
  const { prisma, mode, view } = here;
  const one = await prisma.case.findFirst({ where: { id: idOf(here.id), mode } });
  if (one?.orderId != null) return { to: `/admin/orders/${one.orderId}` };
  const story = one && (await explain(prisma, mode, { reference: one.reference }, view, true));
  if (one === null || story === null) return null;
  const owner = act(here, 'after-restore', 'It belongs to this order', { hidden: { adopt: one.reference } });
  const acts = one.closedAt === null && ui.card('Whose is it?', owner);
  const body = await bodyOf(here, story, [' seen ', ui.when(one.openedAt, view)], acts);
  return { title: 'Money without an order', body };
}

/** The printable proof for the bank. The activity page shows who made it. */
export async function proof(here: Here): Promise<Drawn> {
  const order = await readOrder(here, here.id);
  if (order === null) return null;
  if (!may(here.who, 'clerk')) throw new Problem('role-may-not');
  const made = await findAction(['proof'])?.action.run(here.parts, { order: order.id });
  return typeof made?.sentence === 'string' ? { html: made.sentence } : null;
}

type Input = Record<string, unknown>;
const text = (value: unknown): string => (typeof value === 'string' ? value : '');

/** The texts of the confirmation page, and the message after the action. */
function sureOf(here: Here, input: Input, texts: End['texts'], sum: string, order: ToldCase['order']): Sure {
  const number = text(input.number);
  const values = { sum, number: number && `, number ${number}` };
  const filled = Object.entries(texts).map(([name, one]) => [name, ui.fill(one, values)]);
  const customer = order ? emailOf(here, order) : '';
  const facts: Sure['facts'] = [
    ['Order', order ? `${order.externalId ?? order.id.slice(0, 8)}, ${amountText(order)}, ${customer}` : ''],
    ...Object.entries({ Amount: sum, Number: number, Why: text(input.note) }),
    ['Refunded', input.elsewhere === true ? 'another way, such as a bank transfer' : ''],
  ];
  return { ...(Object.fromEntries(filled) as End['texts']), customer, facts };
}

/**
 * Checks an action that cannot be undone, and prepares its confirmation page. If the action is
 * impossible, it throws the reason.
 */
type Asking = (here: Here, input: Input) => Promise<Sure | { faults: Record<string, string> }>;
export const CONFIRMED: Record<string, Asking | undefined> = {
  'cases decide': async (here, input) => {
    const isDecidable = [{ closedAt: null }, { decision: 'ask-rest' }];
    const where = { id: idOf(text(input.id)), mode: here.mode, OR: isDecidable };
    const one = await here.prisma.case.findFirst({ where, include: TOLD_CASE });
    if (one === null || text(input.seen) !== shortOf(one.digest)) throw refused('changed');
    const isOtherWay = input.elsewhere === true && one.held === 0n;
    const value = text(input.as) + (isOtherWay ? ' elsewhere' : '');
    const end = (await endsOf(here, one)).find((each) => each.value === value);
    if (end === undefined) throw refused('changed');
    const lacksNumber = end.needsNumber && input.elsewhere !== true && input.number === undefined;
    if (lacksNumber) return { faults: { number: words.faults.missing } };
    return sureOf(here, input, end.texts, end.sum, one.order);
  },
  'orders refund': async (here, input) => {
    const order = await readOrder(here, text(input.order));
    if (order === null) throw refused('unknown-order');
    const { currency } = order;
    const [amount, left] = [parseMajor(text(input.amount), currency) ?? 0n, leftOf(order)];
    if (amount <= 0n)
      return { faults: { amount: `This must be an amount without separators, like ${formatMajor(order)}.` } };
    if (amount > left) throw refused('too-much', { left: amountText({ amount: left, currency }) });
    return sureOf(here, input, words.ends.refund, amountText({ amount, currency }), order);
  },
  'orders cancel': async (here, input) =>
    sureOf(here, input, words.ends.cancel, '', await readOrder(here, text(input.order))),
};
