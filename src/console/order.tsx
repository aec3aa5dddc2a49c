import type { ComponentChildren as Kids, VNode } from 'preact';
import { findAction } from '../commands/commands.ts';
import { whenText } from '../custom/days.ts';
import { Problem } from '../platform/problem.ts';
import { explain, type Story } from '../reporting/explain.ts';
import { amountText } from '../reporting/words.ts';
import { act, isTyped } from './acts.tsx';
import { leftOf, missingOf } from './confirmations.ts';
import { openCases, proofLink, waitingForRest } from './decisions.tsx';
import type { Drawn, Here } from './frame.tsx';
import { emailOf, goodsOf } from './lists.tsx';
import * as ui from './parts.tsx';
import { idOf, readOrder, type ShownOrder } from './queries.ts';
import { may } from './session.ts';
import words from './words.json' with { type: 'json' };

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
      `${sum ?? 'Nothing received'}, ${orderId === null ? 'seen' : 'payment page opened'} `,
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
        ui.story(story),
        next.map((one) => ui.quiet(one)),
      )}
    </div>,
    who.role !== 'viewer' && acts,
    ui.more('For your developer', <pre>{facts}</pre>),
  ];
}

/** Leaves out bodies, because they contain whole addresses. */
const withoutBodies = (name: string, value: unknown): unknown => (name === 'body' ? undefined : value);

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

function otherActs(here: Here, order: ShownOrder): VNode {
  const { id, currency, proof, endedAt } = order;
  const hidden = { order: id };
  const left = leftOf(order);
  const labels = { amount: `Amount in ${currency}` };
  const refund = [
    ui.line(`${amountText({ amount: left, currency })} can still be refunded. ${words.refundFirst}`),
    act(here, 'orders refund', 'Write it down', { hidden, labels }),
  ];
  const isOpen = endedAt === null;
  const end = isOpen ? 'orders cancel' : 'orders reopen';
  // A form with faults stays open.
  const fold = (title: string, name: string, kids: Kids) => ui.more(title, kids, isTyped(here, name));
  return ui.card(
    'Do something else',
    left > 0n && fold('Write down a refund', 'orders refund', refund),
    sendAgain(here, order),
    act(here, 'ask', 'Check with the payment service now', { hidden }),
    proof === null &&
      fold(
        isOpen ? 'Cancel the order' : 'Reopen the order',
        end,
        act(here, end, isOpen ? 'Cancel the order' : 'Reopen', { hidden }),
      ),
    fold('Add a note', 'note', act(here, 'note', 'Add it', { hidden, labels: { note: 'Note' } })),
    proofLink(id),
  );
}

/** Sends the order to shipping again. If its money is missing, a person must say why. */
function sendAgain(here: Here, order: ShownOrder): VNode | null {
  const [message] = order.messages;
  if (message === undefined) return null;
  const gone = missingOf(order);
  const name = 'messages resend';
  if (gone === null)
    return act(here, name, 'Send to shipping again', {
      hidden: { message: message.id },
      without: ['note', 'despite-missing-money'],
    });
  const hidden = { message: message.id, 'despite-missing-money': 'on' };
  return ui.more(
    'Send to shipping without its money',
    [
      ui.line(`${gone} The goods are sent although the shop does not have this money.`),
      act(here, name, 'Continue', { hidden, needed: ['note'] }),
    ],
    isTyped(here, name),
  );
}

/** The page of an unmatched payment. */
export async function casePage(here: Here): Promise<Drawn> {
  const { prisma, mode, view } = here;
  const one = await prisma.case.findFirst({ where: { id: idOf(here.id), mode } });
  if (one?.orderId != null) return { to: `/admin/orders/${one.orderId}` };
  const story = one && (await explain(prisma, mode, { reference: one.reference }, view, true));
  if (one === null || story === null) return null;
  const hidden = { adopt: one.reference };
  const owner = act(here, 'after-restore', 'It belongs to this order', { hidden, needed: ['order'] });
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
