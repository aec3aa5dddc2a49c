import { afterEach, beforeEach, expect, test } from '@jest/globals';
import type { Queryable } from '../../src/platform/database/database.ts';
import { defaultDialect } from '../support/dialect.ts';
import { openDesk, startReconciling, type Desk } from './desk.ts';

let desk: Desk;
beforeEach(async () => {
  desk = await openDesk();
});
afterEach(() => desk.close());

const PAYMENTS = 40;
const WEBHOOKS_OF_EACH = 500;

/** Every node of a plan, as EXPLAIN writes it in JSON, that reads webhooks. */
function readsOfWebhooks(node: unknown): { index: string | null }[] {
  if (typeof node !== 'object' || node === null) return [];
  const inside = Object.values(node).flatMap((part) =>
    Array.isArray(part) ? part.flatMap(readsOfWebhooks) : readsOfWebhooks(part),
  );
  const { 'Relation Name': relation, 'Index Name': index } = node as Record<string, unknown>;
  const own = relation === 'webhooks' || String(index).startsWith('webhooks_');
  return own ? [{ index: typeof index === 'string' ? index : null }, ...inside] : inside;
}

test('old webhooks about open findings are found by their payments, not by a walk over all webhooks', async () => {
  const read: string[] = [];
  const watch =
    (query: Queryable['query']): Queryable['query'] =>
    (statement, values) => {
      const text = typeof statement === 'string' ? statement : statement.text;
      if (text.includes('SELECT w.id, w.reference, w.body')) read.push(text);
      return query(statement, values);
    };
  for (let count = 0; count < PAYMENTS; count += 1) await desk.put({}, null);
  // Another amount than asked for: a finding that stays open.
  await desk.put({}, { amount: '7' });
  const { reconcile, gateway } = startReconciling({
    ...{ database: { ...desk.database, watch }, url: desk.service.url, dialect: defaultDialect },
    alarm: () => Promise.resolve(),
  });
  expect(await reconcile({ dryRun: false })).toMatchObject({ findings: { underpaid: 1 } });
  await gateway.close();
  await desk.database.query(
    `INSERT INTO webhooks (mode, reference, body, body_sha256, content_type, authenticity,
       outcome)
     SELECT 'test', p.reference, convert_to(rpad(n::text, 1000, 'x'), 'UTF8'), sha256((p.reference || n)::bytea),
       'application/json', 'signed', 'hinted' FROM generate_series(1, $1) n, payments p`,
    [WEBHOOKS_OF_EACH],
  );
  await desk.database.query('ANALYZE webhooks, payments, findings');
  const plan = await desk.database.transaction(async (tx) => {
    await tx.query('SET LOCAL random_page_cost = 1.1');
    const [row] = await tx.query<{ 'QUERY PLAN': unknown }>(`EXPLAIN (FORMAT JSON) ${read[0] ?? ''}`, [
      'test',
      0,
      PAYMENTS * WEBHOOKS_OF_EACH,
      // So few that a walk in their order seems to end soon.
      10,
    ]);
    return row?.['QUERY PLAN'];
  });
  const indexes = new Set(readsOfWebhooks({ plan }).map(({ index }) => index));
  expect(indexes).toContain('webhooks_of_reference');
  // The new ones are read in the order of their numbers, and nothing else is.
  expect(readsOfWebhooks({ plan }).filter(({ index }) => index === 'webhooks_pkey')).toHaveLength(1);
});
