import type { Gateway } from '../gateway/gateway.ts';
import { priceBasket, type Catalogue } from '../orders/catalogue.ts';
import { totalOf, type Basket } from '../orders/input.ts';
import { priceEndsAt } from '../orders/order.ts';
import { changeOrder } from '../payments/change-order.ts';
import { partPaid, partPaymentOf, type AggregatePayment, isVerifiedWithin } from '../payments/aggregate.ts';
import { addPayment, record, setOrder, type Change } from '../payments/change.ts';
import type { Confirm } from '../payments/confirm.ts';
import { lease } from '../payments/due.ts';
import { ALL, isStopped, openStops } from '../cases/stops.ts';
import { constraintOf } from '../platform/db.ts';
import { isSameDigest, newOrderId } from '../platform/ids.ts';
import type { Stop } from '../platform/prisma/client.ts';
import { Problem } from '../platform/problem.ts';
import { placeOrder, type Key } from './place-order.ts';
import {
  openPayment,
  refusalOf,
  RETRY_SEC,
  SENDING_MS,
  type Opened,
  type OpenParts,
  type Placed,
} from './open-payment.ts';

export type CheckoutParts = OpenParts & { catalogue: Catalogue; confirm: Confirm };

/** The maximum number of payable payments of an order. The shopper might pay each of them. */
const MAX_PAYABLE = 5;
const STOPPED_RETRY_SEC = 60;

/**
 * Starts the checkout of a basket. It prices the order and commits all of it before the service is
 * called, so that a crash loses no payment. The same key leads to the same order in its current
 * state.
 * @throws {Problem} the reason why the shopper cannot pay
 */
export async function startCheckout(
  parts: CheckoutParts,
  basket: Basket & { returnUrl?: string | undefined },
  key: Key | null,
): Promise<Opened> {
  const before = await findByKey(parts, key);
  if (before !== null) return continueCheckout(parts, before);
  const { prisma, gateway, catalogue } = parts;
  const { lines, currency } = await priceBasket(prisma, catalogue, basket);
  const amount = totalOf(lines, 'items');
  refuseStopped(await openStops(prisma, gateway.mode), currency);
  const { email } = basket;
  if (!(await parts.limits.hasRoom(email))) throw new Problem('too-many-requests', { retryAfterSec: 60 });
  const placed = { orderId: newOrderId(), reference: gateway.references.create(), amount, currency, email };
  try {
    await placeOrder(prisma, gateway.mode, { ...placed, lines, returnUrl: basket.returnUrl ?? null, key });
  } catch (error) {
    // Another request with the same key came at the same moment and was first.
    const winner = constraintOf(error) === 'idempotency_keys_pkey' ? await findByKey(parts, key) : null;
    if (winner === null) throw error;
    return continueCheckout(parts, winner);
  }
  return openPayment(parts, placed);
}

async function findByKey({ prisma, gateway: { mode } }: CheckoutParts, key: Key | null): Promise<string | null> {
  if (key === null) return null;
  const found = await prisma.idempotencyKey.findUnique({ where: { mode_key: { mode, key: key.key } } });
  if (found === null) return null;
  if (!isSameDigest(found.digest, key.digest)) throw new Problem('idempotency-key-reused');
  return found.orderId;
}

/**
 * Binds a key to a request that names its order. A key that placed or continued the order may be
 * sent again.
 * @throws {Problem} 422 if the key was used for another order
 */
export async function claimKey(parts: CheckoutParts, key: Key | null, orderId: string): Promise<void> {
  if (key === null) return;
  const { mode } = parts.gateway;
  await parts.prisma.idempotencyKey.createMany({ data: [{ mode, ...key, orderId }], skipDuplicates: true });
  const bound = await parts.prisma.idempotencyKey.findUnique({ where: { mode_key: { mode, key: key.key } } });
  if (bound?.orderId !== orderId) throw new Problem('idempotency-key-reused');
}

function refuseStopped(stops: readonly Stop[], currency: string): void {
  if (stops.some(({ what }) => what === ALL))
    throw new Problem('checkouts-stopped', { retryAfterSec: STOPPED_RETRY_SEC });
  if (isStopped(stops, currency))
    throw new Problem('currency-stopped', { detail: `New payments in ${currency} are stopped.` });
}

/**
 * Continues an order that exists. First we verify each payment that may still be paid, because it
 * may already be paid or over. Then we hand out the open page again, or make the next payment. We
 * make the next payment even if verify does not answer about payments whose pages are dead.
 * @throws {Problem} the reason why the shopper cannot pay
 */
export async function continueCheckout(parts: CheckoutParts, orderId: string): Promise<Opened> {
  const asked = new Set<string>();
  const deadline = performance.now() + SENDING_MS;
  while (performance.now() < deadline) {
    const stops = await openStops(parts.prisma, parts.gateway.mode);
    const plan = await changeOrder(parts, orderId, 'shopper', (change) =>
      planOrPlaceNext(change, parts.gateway, asked, stops),
    );
    if (plan === null) throw new Problem('not-found');
    if (plan.next === 'hand-out') return plan.opened;
    if (plan.next === 'open') return openPayment(parts, plan.placed);
    const taken = plan.next === 'ask' ? await lease(parts, plan.reference, 'checkout') : null;
    if (taken !== null) {
      asked.add(taken.reference);
      await parts.confirm(taken, 'interactive', ASK_MS);
      // Another request is sending a payment, or is verifying this one. Look again.
    } else await new Promise((resolve) => setTimeout(resolve, WAIT_STEP_MS));
  }
  const why = asked.size > 0 ? 'payment-service-unavailable' : 'request-in-flight';
  throw new Problem(why, { retryAfterSec: RETRY_SEC, extra: { orderId } });
}

const WAIT_STEP_MS = 200;
/** The limit of one verify call, because a shopper waits for it. */
const ASK_MS = 6_000;
/** An answer is fresh if verify was asked within this time. */
const JUST_NOW_MS = 10_000;

type Plan =
  | { next: 'hand-out'; opened: Opened }
  | { next: 'open'; placed: Placed }
  /** Another request is sending a payment. */
  | { next: 'wait' }
  | { next: 'ask'; reference: string };

/**
 * If verify cannot answer about a payment, it waits for its next check, as after any notification.
 * Otherwise one shopper's clicks would use up the verify calls of all.
 */
const isPutOff = ({ failures, nextCheckAt }: AggregatePayment, now: Date): boolean =>
  failures >= 3 && nextCheckAt !== null && nextCheckAt > now;

/** @param stops the open stops; a stop that begins at this moment may miss one payment */
function planOrPlaceNext(
  change: Change,
  { adapter, references }: Gateway,
  asked: ReadonlySet<string>,
  stops: readonly Stop[],
): Plan {
  const { aggregate, now } = change;
  const { id: orderId, currency, email, status } = aggregate;
  const due = aggregate.amount - partPaid(aggregate);
  const refusal = refusalOf(status, orderId);
  if (refusal !== null) throw refusal;
  // A future time was stored before the database's clock was set back, so it is not recent.
  const isWithin = (since: Date | null, ms: number): boolean => {
    const ageMs = since === null ? 0 : now.getTime() - since.getTime();
    return ageMs >= 0 && ageMs < ms;
  };
  const payable = aggregate.payments.filter((one) => one.status === 'sending' || one.status === 'open');
  // The due amount depends on the part payments, so verify must show them too.
  const parts = aggregate.payments.filter((one) => partPaymentOf(aggregate, one) > 0n);
  // No answer of initialize is recorded yet. If its result is unknown, the payment has a reason.
  const isBeingSent = (one: AggregatePayment): boolean =>
    one.status === 'sending' && one.reason === null && isWithin(one.createdAt, SENDING_MS);
  if (payable.some(isBeingSent)) return { next: 'wait' };
  const isFresh = (one: AggregatePayment): boolean => isVerifiedWithin(one, now, JUST_NOW_MS);
  const unasked = [...payable, ...parts].find(
    (one) => !isFresh(one) && !isPutOff(one, now) && !asked.has(one.reference),
  );
  if (unasked !== undefined) return { next: 'ask', reference: unasked.reference };
  const lifetimeMs = adapter.checkoutLifetimeMin * 60_000;
  // A page for another amount can still be paid, but is not handed out.
  const page = payable.findLast(
    (one) => one.checkoutUrl !== null && one.amount === due && isWithin(one.openedAt, lifetimeMs),
  );
  // Without a fresh answer, we neither hand out this page nor open a second one.
  if (page !== undefined && !isFresh(page))
    throw new Problem('payment-service-unavailable', { retryAfterSec: RETRY_SEC, extra: { orderId } });
  if (page?.checkoutUrl != null)
    return {
      next: 'hand-out',
      opened: { orderId, reference: page.reference, amount: due, currency, checkoutUrl: page.checkoutUrl },
    };
  const priceEnd = priceEndsAt(aggregate, change.policy.payableDays);
  if (priceEnd !== null && priceEnd <= now) throw new Problem('order-expired', { extra: { orderId } });
  if (payable.length >= MAX_PAYABLE) throw new Problem('too-many-open-payments', { retryAfterSec: 60 });
  refuseStopped(stops, currency);
  const reference = references.create();
  addPayment(change, reference, due, new Date(now.getTime() + SENDING_MS));
  record(change, 'next payment', reference);
  // Mark the order as changed, because its view shows the newest reference.
  setOrder(change, {});
  return { next: 'open', placed: { orderId, reference, amount: due, currency, email } };
}
