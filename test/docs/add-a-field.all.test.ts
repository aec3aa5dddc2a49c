import { afterEach, expect, test } from '@jest/globals';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { renderToString } from 'preact-render-to-string';
import type { ShopperDetails } from '../../src/orders/shopper-details.ts';
import { cleanUp } from '../support/process.ts';
import { asOrderId, asReference } from '../support/ids.ts';
import { copyCheckout } from './checkout.ts';
import { fileOf } from '../../tools/smaller/blocks.ts';
import { readPages } from './markdown.ts';

afterEach(cleanUp);

// Three for a field of the shopper, one for the shop's own form, three for a field for the service.
const MAX_FILES = 7;
const PHONE = '+2348012345678';

// That the order keeps the field is played with the page (walk.test.ts). These are the two places where it comes out.
test('a field that is added as the page says is in the event and on the order page, in the request that a key repeats, and takes few files', async () => {
  const page = readPages().find(({ path }) => path === 'docs/add-a-field.md');
  const changes = (page?.blocks ?? []).filter((block) => fileOf(block) !== null);
  const files = new Set(changes.map(fileOf)).size;
  expect(files).toBeGreaterThan(0);
  expect(files).toBeLessThanOrEqual(MAX_FILES);

  const { folder, write } = await copyCheckout();
  for (const change of changes) write(change);
  const load = (path: string): Promise<unknown> => import(pathToFileURL(join(folder, path)).href);
  const { messageOf } = (await load(
    'src/fulfilment/message.ts',
  )) as typeof import('../../src/fulfilment/message.ts');
  const { initializeBody } = (await load(
    'src/gateway/messages.ts',
  )) as typeof import('../../src/gateway/messages.ts');
  const { OrderDetailPage } = (await load(
    'src/admin/orders/order-page.tsx',
  )) as typeof import('../../src/admin/orders/order-page.tsx');

  const { readIdempotencyKey } = (await load(
    'src/checkout/idempotency-key.ts',
  )) as typeof import('../../src/checkout/idempotency-key.ts');
  const basket = { email: 'ada@example.com', items: [{ sku: 'dallah', quantity: 1 }] };
  const fingerprintOf = (phone: string) =>
    readIdempotencyKey('k', { ...basket, phone } as typeof basket)?.fingerprint;
  expect(fingerprintOf(PHONE)).toEqual(fingerprintOf(PHONE));
  expect(fingerprintOf(PHONE)).not.toEqual(fingerprintOf('+2348012345679'));

  // Of the copy's schema, which the compiler does not see here.
  const details = { phone: PHONE } as object as ShopperDetails;
  const order = { orderId: asOrderId('x'.repeat(24)), externalId: null, details, metadata: {} };
  const paid = { total: { amount: 1n, currency: 'NGN' }, mode: 'test', paidAt: new Date(0) } as const;
  const release = { ...order, ...paid, id: 'rel_x', reference: asReference('y'.repeat(24)), lines: [] };
  expect(messageOf({ ...release, details: {} })).not.toContain('phone');
  expect(JSON.parse(messageOf(release))).toMatchObject({ data: { phone: PHONE } });

  const reference = asReference('y'.repeat(24));
  const sent = {
    email: 'ada@example.com',
    amount: '0.01',
    localCurrency: 'NGN',
    reference,
    redirectUrl: 'x',
  };
  expect(JSON.parse(initializeBody({ ...sent, ...{ orderId: 'x' } }))).toMatchObject({ orderId: 'x' });

  const orderDetail = {
    ...order,
    status: 'paid' as const,
    amount: '0.01',
    refunded: '0.00',
    currency: 'NGN',
    mode: 'test',
    lines: [],
    payBy: null,
    payments: [],
    story: [],
    journal: { entries: 1, hash: null },
    contradictions: [],
    cases: [],
    placedAt: new Date(0),
    paidAt: new Date(0),
    ...{ customer: null, expiredAt: null, cancelledAt: null, cancelledBy: null, cancelReason: null },
    ...{
      delivery: 'unneeded' as const,
      cameAmount: '1',
      unexplained: null,
      attempts: 0,
      lastError: null,
      deliveredAt: null,
      nextDeliveryAt: null,
    },
    ...{ acceptedBy: null, acceptedAmount: null },
  };
  const who = { name: 'Ngozi', isNamed: false, formToken: '' };
  const visitor = { ...who, hasSession: true, isAllowed: true, may: () => true };
  const frame = { visitor, shop: 'Three Markets', mode: 'test', told: null } as const;
  const shown = (email?: string): string =>
    renderToString(
      OrderDetailPage({
        frame,
        orderDetail: { ...orderDetail, customer: 'ad***@example.com' },
        evidence: [],
        release: null,
        ...(email !== undefined && { email }),
      }),
    );
  expect(shown()).not.toContain(PHONE);
  expect(shown('ada@example.com')).toContain(PHONE);
});
