import { changeOrder } from '../payments/change-order.ts';
import { record, setMessage, type Change, type MessageChange } from '../payments/change.ts';
import { holdOf } from '../payments/conclude.ts';
import type { Message } from '../platform/prisma/client.ts';
import { action, FLAG, refused, TEXT, usageError, type CommandParts } from './registry.ts';

/** Messages that could not be delivered for three days. */
export const GIVEN_UP = { sentAt: null, heldBy: null, nextTryAt: null, tries: { gt: 0 } } as const;

type Work = (change: Change, message: Message) => MessageChange;

/**
 * Changes a message while its order is locked.
 * @param work returns the change, or throws why the message cannot be changed
 */
async function changeMessage(parts: CommandParts, id: string, work: Work): Promise<void> {
  const found = await parts.prisma.message.findUnique({ where: { id, mode: parts.policy.mode } });
  if (found?.orderId == null)
    throw usageError(`There is no message ${id}. The command messages list shows all messages that are not sent.`);
  await changeOrder(parts, found.orderId, parts.by, (change) => {
    const message = change.aggregate.messages.find((one) => one.id === id) ?? found;
    setMessage(change, message, work(change, message));
  });
  parts.onMessage();
}

const RESENDING = { message: TEXT, 'despite-missing-money': FLAG, note: TEXT.optional() };

export const MESSAGES = [
  action('viewer', 'messages list', {}, async ({ prisma, policy: { mode } }) => {
    const unsent = { where: { mode, sentAt: null }, orderBy: { seq: 'asc' }, omit: { body: true } } as const;
    const data = (await prisma.message.findMany(unsent)).map((one) => {
      const next = one.nextTryAt?.toISOString() ?? (one.tries > 0 ? 'given up' : 'not wanted');
      return { ...one, state: one.heldBy === null ? next : `held: ${one.heldBy}` };
    });
    const lines = data.map((one) => [one.id, one.type, one.orderId, one.state, one.lastError].join('  '));
    return { data, sentence: lines.join('\n') || 'Everything was sent.' };
  }),
  action('clerk', 'messages resend MESSAGE', RESENDING, async (parts, { message: id, note = null, ...input }) => {
    const isDespite = input['despite-missing-money'];
    if (isDespite && (note === null || id === 'all'))
      throw usageError('--despite-missing-money needs the id of one message, and --note NOTE with the reason.');
    const where = { mode: parts.policy.mode, sentAt: null, heldBy: null, liftedBy: null, body: { not: '' } };
    const all = id === 'all' ? await parts.prisma.message.findMany({ where, orderBy: { seq: 'asc' } }) : [{ id }];
    for (const one of all)
      await changeMessage(parts, one.id, (change, { type, body }) => {
        // Whether order.paid may be sent is decided now, even if it was sent before.
        const hold = type === 'order.paid' ? holdOf(change) : null;
        if (body === '') throw refused('emptied');
        if (hold !== null && !isDespite) throw refused('money-missing');
        record(change, 'message sent again', null, { message: one.id, hold, note });
        const liftedBy = hold === null ? null : parts.by;
        return { heldBy: null, liftedBy, restarts: true, resends: true };
      });
    return { sentence: `Messages that are sent again, under the same ids: ${all.length}.` };
  }),
  action('clerk', 'messages hold MESSAGE', { message: TEXT, note: TEXT }, async (parts, { message: id, note }) => {
    await changeMessage(parts, id, (change, { sentAt }) => {
      if (sentAt !== null) throw refused('sent');
      record(change, 'message held', null, { message: id, note });
      return { heldBy: parts.by, liftedBy: null, restarts: false, resends: false };
    });
    return { sentence: `The message is held. To send it, run messages resend ${id}.` };
  }),
];
