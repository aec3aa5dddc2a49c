import type { Gateway } from '../gateway/gateway.ts';
import { readOrderInput } from '../orders/input.ts';
import { VIEWED, type ViewedOrder } from '../orders/view.ts';
import { constraintOf } from '../platform/db.ts';
import { canonical, digestOf, isSameDigest, newOrderId } from '../platform/ids.ts';
import { invalidField, Problem } from '../platform/problem.ts';
import type { Mode, PrismaClient } from '../platform/prisma/client.ts';

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
  const input = readOrderInput(body);
  const { externalId = null, email, currency, lines, amount, payBy, metadata = {} } = input;
  const { mode, adapter } = gateway;
  const landing = returnUrlOf(input.returnUrl) ?? null;
  const hashes = contentHashes(input, landing);
  const before = await findSame(prisma, mode, externalId, hashes);
  if (before !== null) return before;
  checkPayBy(payBy, adapter.payableDays);
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
        contentHash: hashes[0],
        returnUrl: landing,
        lines: { create: lines.map((line, position) => ({ ...line, position })) },
        journal: { create: [{ what: 'order placed', by: 'shop' }] },
      },
      include: VIEWED,
    });
    return { order, isNew: true };
  } catch (error) {
    // Another request placed the same order at the same moment and was first.
    const isSecond = constraintOf(error) === 'orders_external_id_key';
    const winner = isSecond ? await findSame(prisma, mode, externalId, hashes) : null;
    if (winner === null) throw error;
    return winner;
  }
}

/**
 * The order that has this externalId and this content. Null: there is none.
 * @throws {Problem} 409 if the order with this externalId has other content
 */
async function findSame(prisma: PrismaClient, mode: Mode, externalId: string | null, hashes: Hashes) {
  if (externalId === null) return null;
  const order = await prisma.order.findUnique({ where: { mode_externalId: { mode, externalId } }, include: VIEWED });
  if (order === null) return null;
  const stored = order.contentHash;
  if (stored === null || !hashes.some((hash) => isSameDigest(hash, stored)))
    throw new Problem('external-id-taken', { extra: { orderId: order.id } });
  return { order, isNew: false };
}

type OrderInput = ReturnType<typeof readOrderInput>;
type Hashes = ReturnType<typeof contentHashes>;

/**
 * The digests by which a repeated externalId is compared. The second one is that of version 1.0.0,
 * which depends on the order of the metadata's members.
 */
function contentHashes({ email, currency, lines, payBy, metadata = {} }: OrderInput, landing: string | null) {
  const hash = (given: unknown) => digestOf([email, currency, lines, payBy, given, landing]);
  return [hash(canonical(metadata)), hash(metadata)] as const;
}

const DAY_MS = 86_400_000;

/** @throws {Problem} 422 unless the deadline is within the days in which a payment can be verified */
function checkPayBy(payBy: Date | null, payableDays: number): void {
  const latest = new Date(Date.now() + payableDays * DAY_MS);
  if (payBy !== null && (payBy <= new Date() || payBy > latest))
    throw invalidField('payBy', `must be in the future, at most ${payableDays} days from now`);
}
