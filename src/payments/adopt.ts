import { openFindings, resolveFinding } from '../cases/findings.ts';
import { GatewayUnanswered } from '../gateway/errors.ts';
import type { Gateway } from '../gateway/gateway.ts';
import type { Database } from '../platform/database/database.ts';
import type { Reference } from '../platform/ids.ts';
import { displayMoney } from '../platform/money.ts';
import { orderIdOf } from '../reporting/timeline.sql.ts';
import { insertAdopted, lockForAdoption, readAdoptable, type Adoptable } from './adopt.sql.ts';
import type { Confirm } from './confirm.ts';
import { loadPayment } from './confirm.sql.ts';
import { NOTHING_MAY_BE_ABSENT, outcomeOf } from './decide.ts';

type AdoptParts = { database: Database; gateway: Gateway; confirm: Confirm };

type Adoption = {
  reference: Reference;
  /** An order's id, or the shop's own number of it. */
  order: string;
  by: string;
  note: string;
};

/** Whether the order is paid with it, and a sentence for the person. */
export type Adopted = { isPaid: boolean; told: string };

/** Nothing was written. The message says why. */
class Refused extends Error {}

/**
 * Gives a payment back to its order: the service knows its reference, and the database has lost it, as after
 * a restore. A person says whose it is; whether it pays is decided where it always is, by {@link Confirm}.
 * Call it while no reconciliation runs: one that had seen the reference as unknown would hold its money.
 */
export async function adopt(parts: AdoptParts, adoption: Adoption): Promise<Adopted> {
  try {
    const order = await write(parts, adoption);
    return await confirmAdopted(parts, adoption, order);
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    return { isPaid: false, told: `${error.message} Nothing was written.` };
  }
}

const IF_LOST_TOO =
  'If it is lost too, place it again under its own external id and adopt to that. If it had none, a new ' +
  'order would ship again: docs/operations.md, "After a restore", says what to do.';

async function write({ database, gateway }: AdoptParts, adoption: Adoption): Promise<Adoptable> {
  const { reference, order: name, by, note } = adoption;
  const orderId = await orderIdOf(database, name, gateway.mode);
  if (orderId === null) throw new Refused(`There is no order ${name}. ${IF_LOST_TOO}`);
  const order = await readAdoptable(database, orderId, reference);
  refuseUnfit(order, reference, gateway);
  await refuseUnproven(gateway, order, reference);
  return database.transaction(async (tx) => {
    await lockForAdoption(tx, order, reference);
    const locked = await readAdoptable(tx, orderId, reference);
    refuseUnfit(locked, reference, gateway);
    if (!(await insertAdopted(tx, orderId, reference, by, note)))
      throw new Refused(`${reference} is a payment of another order by now.`);
    return locked;
  });
}

function refuseUnfit(order: Adoptable, reference: Reference, { mode }: Gateway): void {
  const { orderId, takenBy, decision } = order;
  if (order.mode !== mode)
    throw new Refused(`Order ${orderId} is of ${order.mode} mode, and the key is of ${mode} mode.`);
  if (takenBy !== null) throw new Refused(`${reference} is a payment of order ${takenBy} already.`);
  if (decision !== null)
    throw new Refused(`A person has decided about the money of ${reference} (${decision}): it pays nothing.`);
  if (order.status === 'paid')
    throw new Refused(`Order ${orderId} is paid: this is a second payment, which stays in suspense.`);
}

/**
 * The one question beside {@link Confirm}: there is no payment to confirm yet, and an answer that is not
 * exact must leave none. It writes nothing.
 * @throws {Refused} unless the service says now that this reference paid exactly this order's money
 */
async function refuseUnproven(gateway: Gateway, order: Adoptable, reference: Reference): Promise<void> {
  const answer = await gateway.verify(reference, order.currency, 'background').catch((error: unknown) => {
    if (!(error instanceof GatewayUnanswered)) throw error;
    throw new Refused(`The service cannot be asked (${error.message}). Try again.`);
  });
  const outcome = outcomeOf({ ...order, reference }, answer, NOTHING_MAY_BE_ABSENT);
  if (outcome === 'not_found') throw new Refused(`The service does not know ${reference}.`);
  if (outcome !== 'paid')
    throw new Refused(
      `The service does not say that ${reference} paid the ${displayMoney(order)} ` +
        `of order ${order.orderId}: ${outcome}.`,
    );
}

/**
 * From here on the payment is one like any other: whatever happens to this process, the poller asks about it.
 */
async function confirmAdopted(
  { database, gateway, confirm }: AdoptParts,
  adoption: Adoption,
  { orderId }: Adoptable,
): Promise<Adopted> {
  const { reference } = adoption;
  const payment = await loadPayment(database, reference, gateway.mode);
  if (payment === null) throw new Error(`Bug: payment ${reference} is gone`);
  try {
    const { outcome, status, released } = await confirm(payment, 'operator');
    if (!released)
      return { isPaid: false, told: `${reference} is adopted and does not pay: ${outcome}, ${status}.` };
    await closeFindings(database, gateway, orderId, adoption);
    return { isPaid: true, told: `Order ${orderId} is paid; its release is ${payment.releaseId}.` };
  } catch (error) {
    if (!(error instanceof GatewayUnanswered)) throw error;
    return { isPaid: false, told: `${reference} is adopted. The worker asks the service: ${error.message}.` };
  }
}

/** Its money has left suspense with the confirmation. The finding would go with the next run. */
async function closeFindings(
  database: Database,
  { mode }: Gateway,
  orderId: string,
  { reference, by, note }: Adoption,
): Promise<void> {
  const unknown = await openFindings(database, mode, { class: 'unknown_reference' });
  for (const { id } of unknown.filter((finding) => finding.reference === reference))
    await resolveFinding(database, mode, id, by, `adopted by order ${orderId}: ${note}`);
}
