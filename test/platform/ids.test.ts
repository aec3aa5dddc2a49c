import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import {
  newOrderId,
  newProbeReference,
  newReference,
  newRunId,
  ORDER_ID_PATTERN,
  parseOrderId,
  parseReference,
  parseRunId,
  PROBE_PATTERN,
  REFERENCE_PATTERN,
  type OrderId,
  type Reference,
  type RunId,
} from '../../src/platform/ids.ts';

// Read by the compiler, which says so when an error that is expected does not come: then a brand is gone.
test('no id can be passed for another, and no text for an id', () => {
  const order = (id: OrderId): string => id;
  const payment = (id: Reference): string => id;
  const run = (id: RunId): string => id;
  const [orderId, reference, runId] = [newOrderId(), newReference(), newRunId()];
  // @ts-expect-error a reference is no order id
  order(reference);
  // @ts-expect-error an order id is no reference
  payment(orderId);
  // @ts-expect-error an order id is no run's
  run(orderId);
  // @ts-expect-error a text is not checked
  order('x'.repeat(24));
  // @ts-expect-error a text is not checked
  payment('x'.repeat(24));
  // @ts-expect-error a text is not checked
  run('run_x');
  expect([order(orderId), payment(reference), run(runId)]).toEqual([orderId, reference, runId]);
});

test('what is made can be read again, and nothing else', () => {
  const [orderId, reference, runId] = [newOrderId(), newReference(), newRunId()];
  expect([parseOrderId(orderId), parseReference(reference), parseRunId(runId)]).toEqual([
    orderId,
    reference,
    runId,
  ]);
  for (const value of [undefined, null, 1, '', 'x'.repeat(23), `${'x'.repeat(24)}\n`, [orderId]]) {
    expect([parseOrderId(value), parseReference(value)]).toEqual([null, null]);
  }
  for (const value of [undefined, null, '', 'run x', 'r'.repeat(65), [runId]])
    expect(parseRunId(value)).toBeNull();
});

test('PostgreSQL accepts the ids that the program accepts', () => {
  const schema = readFileSync(new URL('../../prisma/schema.sql', import.meta.url), 'utf8');
  expect(schema).toContain(`orders_id_check CHECK (id ~ '${ORDER_ID_PATTERN.source}')`);
  expect(schema).toContain(`payments_reference_check CHECK (reference ~ '${REFERENCE_PATTERN.source}')`);
});

test('a reference of the probe can be told from ours, which never begin like one', () => {
  const probes = newProbeReference();
  expect(probes).toMatch(PROBE_PATTERN);
  expect(parseReference(probes)).toBe(probes);
  const made = [probes, 'x'.repeat(24)];
  expect(newReference(() => made.shift() ?? '')).toBe('x'.repeat(24));
});
