import { createHmac } from 'node:crypto';
import fc from 'fast-check';
import { DECISIONS, isDecision } from '../../../src/cases/resolution.ts';
import { resolveFinding } from '../../../src/cases/findings.ts';
import { noteSurplusRefund, resolveSuspense } from '../../../src/cases/suspense.sql.ts';
import { reopenOrder } from '../../../src/orders/reopen.sql.ts';
import { newId, type OrderId } from '../../../src/platform/ids.ts';
import { post, type TestProgram } from '../program.ts';

/* Everything that anybody may do to one order, in any state: what does not apply is refused, and nothing breaks. */

export const TOKEN = 'shop-token-for-tests';
/** Of every order here, in major units: nothing paid below is a power of ten of it. */
export const PRICE = '14.50';
const BY = 'Ngozi';

export type Life = { shop: TestProgram; orderId: OrderId; content: object };

const WORDS = [
  ...['order again', 'checkout', 'fail', 'reverse', 'return', 'webhook', 'clock', 'reconcile', 'deadline'],
  ...['cancel', 'close finding', 'note surplus', 'reopen', 'verify fails once'],
  ...Object.keys(DECISIONS).map((decision) => `decide ${decision}`),
] as const;
/** With money, in major units. */
const MONEY = ['pay', 'give back', 'write refund down'];
const AMOUNTS = [PRICE, '4.20', '10.30', '19.75'];

/** `whose`: which payment of the order, of those there are. */
export type Step = { what: string; amount: string; whose: number };

const whose = fc.nat(2);
const onLatest = (what: string): Step => ({ what, amount: what === 'pay' ? PRICE : '', whose: 0 });
export const aStep: fc.Arbitrary<Step> = fc.oneof(
  { weight: 5, arbitrary: fc.record({ what: fc.constantFrom(...WORDS), amount: fc.constant(''), whose }) },
  {
    weight: 3,
    arbitrary: fc.record({ what: fc.constantFrom(...MONEY), amount: fc.constantFrom(...AMOUNTS), whose }),
  },
  // Without these nothing of the rest can happen.
  { weight: 4, arbitrary: fc.constantFrom(...['checkout', 'cancel', 'return', 'pay'].map(onLatest)) },
);

const bearer = { authorization: `Bearer ${TOKEN}` };

export async function beginLife(shop: TestProgram, hasDeadline: boolean): Promise<Life> {
  const externalId = `L-${newId()}`;
  const payBy = hasDeadline ? new Date(Date.now() + 86_400_000).toISOString() : undefined;
  const lines = [{ description: 'Saffron', unitAmount: '7.25', quantity: 2 }];
  const content = { email: 'ada@example.com', currency: 'NGN', lines, externalId, payBy };
  const answer = await post(`${shop.origin}/orders`, content, bearer);
  const { orderId } = (await answer.json()) as { orderId: OrderId };
  return { shop, orderId, content };
}

/** @returns the HTTP status of a step that is a request, else null */
export async function takeStep(life: Life, { what, amount, whose }: Step): Promise<number | null> {
  const { shop, orderId } = life;
  const { database } = shop.program;
  const sql = <Row extends object>(text: string): Promise<Row[]> => database.query<Row>(text, [orderId]);
  const payments = await sql<{ reference: string }>(
    'SELECT reference FROM payments WHERE order_id = $1 ORDER BY created_at DESC, reference',
  );
  const reference = payments[whose % Math.max(1, payments.length)]?.reference ?? null;
  const tell = async (path: string, body: object): Promise<number> =>
    (await post(`${shop.origin}/${path}`, body, bearer)).status;
  const atService = async (deed: string, body: object): Promise<number | null> =>
    reference === null ? null : (await shop.hand(`transactions/${reference}/${deed}`, body)).status;
  switch (what) {
    case 'order again':
      return tell('orders', life.content);
    case 'checkout':
      return tell('checkout', { orderId });
    case 'pay':
      return atService('pay', { amount, notify: false });
    case 'give back':
      return atService('refund', { amount });
    case 'fail':
    case 'reverse':
      return atService(what, { notify: false });
    case 'return':
      if (reference === null) return null;
      return (await fetch(`${shop.origin}/checkout/return/${reference}`, { redirect: 'manual' })).status;
    case 'webhook':
      return reference === null ? null : signedWebhook(shop, reference);
    case 'deadline':
      await sql(`UPDATE orders SET created_at = now() - interval '2 days', pay_by = now() - interval '1 s',
        deadline_check_at = now() WHERE id = $1 AND pay_by > now()
        AND status IN ('pending', 'failed', 'expired', 'review')`);
      return null;
    case 'clock':
      await passTime(life);
      return null;
    case 'reconcile':
      await shop.program.reconcile({ dryRun: false });
      return null;
    case 'cancel':
      return tell(`orders/${orderId}/cancel`, { reason: 'sold out' });
    case 'write refund down':
      return tell(`orders/${orderId}/refunds`, { amount, reason: 'sent back', externalId: `R-${amount}` });
    case 'reopen':
      await reopenOrder(database, 'test', orderId, { by: BY, note: 'it is wanted after all' });
      return null;
    case 'verify fails once':
      if (reference !== null)
        await shop.hand('faults', { fault: 'error-before-acting', endpoint: 'verify', reference, calls: 1 });
      return null;
    default:
      await actAsPerson(life, what);
      return null;
  }
}

/** What is due of the order, and its next check, is due now, and is done. */
export async function passTime({ shop, orderId }: Life): Promise<void> {
  await shop.program.database.query(
    `UPDATE payments SET next_check_at = now(), last_hinted_at = NULL, leased_until = NULL, silent_until = NULL
     WHERE order_id = $1 AND next_check_at IS NOT NULL`,
    [orderId],
  );
  await shop.program.duePayments.runOnce();
}

async function signedWebhook(shop: TestProgram, reference: string): Promise<number> {
  const body = JSON.stringify({ data: { reference, status: 'SUCCESS' } });
  const signature = createHmac('sha256', shop.sandbox.webhookSecret).update(body).digest('hex');
  const headers = { 'content-type': 'application/json', 'x-signature': signature };
  return (await fetch(`${shop.origin}/webhooks/payments`, { method: 'POST', headers, body })).status;
}

/** The oldest open item or finding of the order. */
async function actAsPerson({ shop, orderId }: Life, what: string): Promise<void> {
  const { database, accept } = shop.program;
  const table = what === 'close finding' ? 'findings' : 'suspense_items';
  const [open] = await database.query<{ id: bigint }>(
    `SELECT id FROM ${table} WHERE order_id = $1 AND closed_at IS NULL ORDER BY id LIMIT 1`,
    [orderId],
  );
  const id = open?.id ?? 0n;
  const said = { by: BY, note: 'looked into it' };
  if (what === 'close finding') await resolveFinding(database, 'test', id, said.by, said.note);
  else if (what === 'note surplus')
    await noteSurplusRefund(database, 'test', id, { ...said, refundNote: 'RF-2' });
  else if (what === 'decide accept') await accept({ ...said, id, seen: null });
  else {
    const decision = what.slice('decide '.length);
    if (!isDecision(decision) || decision === 'accept') throw new Error(`there is no step ${what}`);
    const refundNote = decision === 'refund' ? 'RF-1' : null;
    await resolveSuspense(database, 'test', id, { ...said, decision, refundNote });
  }
}
