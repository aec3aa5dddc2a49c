import { expect, test } from '@jest/globals';
import { messageOf } from '../../src/fulfilment/message.ts';
import { readOrderInput } from '../../src/orders/order-input.ts';
import { Problem } from '../../src/platform/problem.ts';
import { IS_WHOLE } from '../support/extent.ts';
import { asOrderId, asReference } from '../support/ids.ts';

// What is accepted before the money must be deliverable after it: receivers commonly take bodies of 100 kB.

const RECEIVERS_TAKE_BYTES = 100_000;
const orderOf = (lines: number, description: string): object => ({
  externalId: 'x'.repeat(128),
  email: 'ada@example.com',
  currency: 'KWD',
  lines: Array.from({ length: lines }, () => ({ description, unitAmount: '1', quantity: 100_000 })),
});

test.each<[string, number, string]>([
  ['500 lines of 200 letters', 500, 'x'.repeat(200)],
  ['300 lines of 200 letters of two bytes', 300, 'ش'.repeat(200)],
  ['200 lines of letters that JSON doubles', 200, '"'.repeat(200)],
])('G14: %s are refused where the order is placed', (_name, lines, description) => {
  expect(() => readOrderInput(orderOf(lines, description))).toThrow(Problem);
});

test.each<[string, number, string]>([
  ['500 lines of 60 letters', 500, 'x'.repeat(60)],
  ['100 lines of 200 letters of two bytes', 100, 'ش'.repeat(200)],
  ['50 lines of 200 characters of four bytes', 50, '🪔'.repeat(100)],
])('G14: %s are accepted, and their release is one that receivers take', (_name, count, description) => {
  const { lines, externalId } = readOrderInput(orderOf(count, description));
  const message = messageOf({
    id: 'rel_x',
    orderId: asOrderId('x'.repeat(24)),
    externalId,
    reference: asReference('x'.repeat(24)),
    total: { amount: 1n, currency: 'KWD' },
    mode: 'test',
    paidAt: new Date(0),
    lines,
    details: {},
    metadata: {},
  });
  expect(lines).toHaveLength(count);
  expect(Buffer.byteLength(message)).toBeLessThan(RECEIVERS_TAKE_BYTES);
});

test('G14: whatever is accepted gives such a release', () => {
  for (const description of ['x', 'ش', '"', '🪔']) {
    for (let length = 1; length <= 200 / description.length; length += IS_WHOLE ? 1 : 45) {
      for (const count of [100, 250, 500]) {
        try {
          const { lines, externalId } = readOrderInput(orderOf(count, description.repeat(length)));
          const facts = {
            id: '',
            orderId: asOrderId('x'.repeat(24)),
            externalId,
            reference: asReference('x'.repeat(24)),
            lines,
            details: {},
            metadata: {},
          } as const;
          const total = { amount: 1n, currency: 'KWD' };
          const message = messageOf({ ...facts, total, mode: 'test', paidAt: new Date(0) });
          expect(Buffer.byteLength(message)).toBeLessThan(RECEIVERS_TAKE_BYTES);
        } catch (error) {
          if (!(error instanceof Problem)) throw error;
        }
      }
    }
  }
});
