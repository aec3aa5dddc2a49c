import type { Gateway } from '../gateway/gateway.ts';
import { readOrderInput } from '../orders/input.ts';
import { VIEWED, type ViewedOrder } from '../orders/view.ts';
import { constraintOf } from '../platform/db.ts';
import { canonical, digestOf, isSameDigest, newOrderId } from '../platform/ids.ts';
import { invalidField, Problem } from '../platform/problem.ts';
import type { PrismaClient } from '../platform/prisma/client.ts';

type Placed = { order: ViewedOrder; isNew: boolean };

/**
 * Places the order of a shop that sets its own prices. A checkout with its orderId pays it. The
 * same externalId with the same content returns the same order.
 * @throws {Problem} 422; 409 if the externalId was used with other content
 */
export async function placeShopOrder(
  { prisma, gateway }: { prisma: PrismaClient; gateway: Gateway },
  body: unknown,
  returnUrlOf: (given: string | undefined) => string | undefined,
): Promise<Placed> {
  const { externalId = null, email, currency, lines, amount, payBy, metadata = {}, returnUrl } = readOrderInput(body);
  const { mode, adapter } = gateway;
  const landing = returnUrlOf(returnUrl) ?? null;
  const content = (given: unknown) => digestOf([email, currency, lines, payBy, given, landing]);
  const contentHash = content(canonical(metadata));
  // Version 1.0.0 stored a digest that depends on the order of the metadata's members.
  const sameContent = [contentHash, content(metadata)];
  const find = async (): Promise<Placed | null> => {
    if (externalId === null) return null;
    const order = await prisma.order.findUnique({ where: { mode_externalId: { mode, externalId } }, include: VIEWED });
    if (order === null) return null;
    const stored = order.contentHash;
    if (stored === null || !sameContent.some((digest) => isSameDigest(digest, stored)))
      throw new Problem('external-id-taken', { extra: { orderId: order.id } });
    return { order, isNew: false };
  };
  const before = await find();
  if (before !== null) return before;
  const latest = new Date(Date.now() + adapter.payableDays * 86_400_000);
  if (payBy !== null && (payBy <= new Date() || payBy > latest))
    throw invalidField('payBy', `must be in the future, at most ${adapter.payableDays} days from now`);
  try {
    const order = await prisma.order.create({
      data: {
        id: newOrderId(),
        mode,
        externalId,
        email,
        currency,
        amount,
        payBy,
        metadata,
        contentHash,
        returnUrl: landing,
        lines: { create: lines.map((line, position) => ({ ...line, position })) },
        journal: { create: [{ what: 'order placed', by: 'shop' }] },
      },
      include: VIEWED,
    });
    return { order, isNew: true };
  } catch (error) {
    // Another request placed the same order at the same moment and was first.
    const winner = constraintOf(error) === 'orders_external_id_key' ? await find() : null;
    if (winner === null) throw error;
    return winner;
  }
}
