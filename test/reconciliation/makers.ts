import { comeBack, payInSilence, settle } from '../support/outside.ts';
import type { Checkout } from '../support/shop.ts';
import { decide, letPass, type Desk } from './support.ts';

// Events at the service without a webhook: each class of cases, and how it arises. Every order is
// one of NGN 8500.00.

/** Changes a payment at the service (local/sandbox/control.ts) without a webhook. */
export const happens = (desk: Desk, reference: string, act: string, body: object = {}): Promise<unknown> =>
  desk.sandboxPost(
    `/transactions/${reference}/${act}`,
    /^(record|hide)$/.test(act) ? body : { ...body, notify: false },
  );

/** A checkout that is paid and verified. */
export async function buy(desk: Desk, payment: object = {}): Promise<Checkout> {
  const checkout = await desk.checkout();
  await settle(desk, checkout.reference, payment);
  return checkout;
}

/**
 * A payment that is paid at the service, and not verified.
 * @param said fields of its records in the sandbox
 */
export async function payUnseen(desk: Desk, said: object = {}, payment: object = {}): Promise<string> {
  const { reference } = await desk.checkout();
  await happens(desk, reference, 'record', said);
  await payInSilence(desk, reference, payment);
  return reference;
}

/** Pays an order, and then changes its payment. */
async function paidAnd(desk: Desk, act: string, body: object): Promise<string> {
  const { reference } = await buy(desk);
  await happens(desk, reference, act, body);
  return reference;
}

let strangers = 0;
export async function payAsStranger(desk: Desk, payment: object = {}): Promise<string> {
  strangers += 1;
  const reference = `stranger${strangers}`;
  const stranger = { create: true, email: 'eve@example.com', amount: 8500, currency: 'NGN', ...payment };
  await happens(desk, reference, 'pay', stranger);
  return reference;
}

/** Pays an order twice. @returns the reference of the first payment */
async function payTwice(desk: Desk): Promise<string> {
  const { orderId, reference } = await desk.checkout();
  await happens(desk, reference, 'fail');
  const json = { orderId };
  const second = await desk.request<Checkout>('POST', '/checkout', { json });
  await settle(desk, second.body.reference);
  await payInSilence(desk, reference);
  return reference;
}

export async function cancelled(desk: Desk): Promise<Checkout> {
  const checkout = await desk.checkout();
  await desk.run('orders', 'cancel', checkout.orderId, '--note', 'a test');
  return checkout;
}

export const MAKERS = {
  unknown_reference: (desk) => payAsStranger(desk),
  currency_mismatch: (desk) => payUnseen(desk, {}, { currency: 'USD' }),
  paid_after_decision: async (desk) => {
    const { reference } = await buy(desk, { amount: 1000 });
    await decide(desk, reference, 'refund');
    await payInSilence(desk, reference);
    return reference;
  },
  charged_again: (desk) => payUnseen(desk, {}, { times: 2 }),
  duplicate_payment: payTwice,
  paid_after_end: async (desk) => {
    const { reference } = await cancelled(desk);
    await payInSilence(desk, reference);
    return reference;
  },
  unit_error: (desk) => payUnseen(desk, {}, { amount: 85 }),
  underpaid: (desk) => payUnseen(desk, {}, { amount: 1000 }),
  overpaid: (desk) => payUnseen(desk, {}, { amount: 10_000 }),
  reversed: (desk) => paidAnd(desk, 'reverse', {}),
  absent_from_history: (desk) => paidAnd(desk, 'hide', { from: 'list', hidden: true }),
  refund_not_shown: async (desk) => {
    const { orderId, reference } = await buy(desk);
    await desk.run('orders', 'refund', orderId, '500', '--number', 'RF-1');
    await letPass(desk, reference, '11 days');
    return reference;
  },
  contradicted: (desk) => paidAnd(desk, 'record', { status: 'ON_HOLD' }),
  'contradicted, held': (desk) => payUnseen(desk, { status: 'PENDING', verifyOnly: true }),
  'unproven, held': (desk) => payUnseen(desk, { amount_received: 8000 }),
  unproven: async (desk) => {
    const reference = await payUnseen(desk, { amount: 0 });
    await comeBack(desk, reference);
    return reference;
  },
  unknown_status: (desk) => payUnseen(desk, { status: 'ON_HOLD' }),
  unreadable: async (desk) => {
    const { reference } = await desk.checkout();
    await desk.sandboxPost('/faults', { endpoint: 'verify', reference, kind: 'body', body: '<html>', times: 0 });
    await comeBack(desk, reference);
    await letPass(desk, reference, '25 hours');
    await comeBack(desk, reference);
    return reference;
  },
} satisfies Record<string, (desk: Desk) => Promise<string>>;
export type Made = keyof typeof MAKERS;
