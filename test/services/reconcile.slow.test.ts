import { afterEach, expect, test } from '@jest/globals';
import { fileURLToPath } from 'node:url';
import type { ServiceAdapter } from '../../src/gateway/adapter.ts';
import { toServiceAmount } from '../../src/gateway/amounts.ts';
import { evidenceOf } from '../../src/gateway/evidence.ts';
import { digestOf } from '../../src/platform/ids.ts';
import { parseMajor } from '../../src/platform/money.ts';
import { openBooks, type Books, type Paid } from '../reconciliation/books.ts';
import { TEST_KEY } from '../support/shop.ts';
import { startService, type Style } from './service.ts';
import { STYLES } from './styles.ts';

const plain: Style = STYLES['bare records, a list in one piece, webhooks without a signature (plain)'];
const MORE: Record<string, Style> = {
  'whole addresses of next pages, on a host of its own (absolute)': {
    ...plain,
    start: (query) => Number(query.get('from') ?? '0'),
    page: (records, next) => {
      const href = `https://list.example/v1/transactions/history?from=${next ?? 0}`;
      return { records, links: next === null ? {} : { next: { href } } };
    },
  },
  'every page of the history is the first page (repeated)': { ...plain, start: () => 0 },
};

let books: Books;
let close: () => unknown;
afterEach(async () => {
  close();
  await books.close();
});

/**
 * The orders and provider transactions as if this service had been verified when its payments came.
 */
async function agree(adapter: ServiceAdapter, style: Style, service: Awaited<ReturnType<typeof startService>>) {
  const register = async ({ reference, amount, currency }: Pick<Paid, 'reference' | 'amount' | 'currency'>) => {
    const body = {
      reference,
      localCurrency: currency,
      redirectUrl: '',
      amount: toServiceAmount({ amount, currency }, adapter),
    };
    const headers = adapter.authorize?.(TEST_KEY) ?? { 'x-api-key': TEST_KEY };
    const path = `${service.url}/v1/transactions/initialize`;
    await fetch(path, { method: 'POST', headers, body: JSON.stringify(body) });
    service.show(reference, { isPaid: true });
    return service.payment(reference);
  };
  await books.database.query(
    `ALTER TABLE verifications DISABLE TRIGGER USER; ALTER TABLE proof_payments DISABLE TRIGGER USER`,
  );
  for (const order of books.orders.toReversed()) {
    const reading = adapter.read(style.record(await register(order)));
    if (reading === null) throw new Error('the adapter cannot read what the service says');
    const about = { reference: order.reference, mode: 'test' as const };
    const said = evidenceOf(reading, about, adapter, { httpStatus: 200, body: '' });
    const { outcome, word, amount, refunded, balance, currency, serviceId, doubt } = said;
    const digest = digestOf([outcome, word, amount, refunded, balance, currency, serviceId, doubt]);
    const sql = 'UPDATE verifications SET word = $2, service_id = $3, digest = $4 WHERE reference = $1';
    await books.database.query(sql, [order.reference, word, serviceId, digest]);
    await books.database.query('UPDATE proof_payments SET service_id = $2 WHERE reference = $1', [
      order.reference,
      serviceId,
    ]);
    const charge = `UPDATE ledgers SET verify_transactions = jsonb_set(verify_transactions, '{0,id}', $2::jsonb)`;
    await books.database.query(`${charge} WHERE reference = $1`, [order.reference, JSON.stringify(serviceId)]);
  }
  return register;
}

test.each(Object.entries<Style>({ ...STYLES, ...MORE }))(
  '%s: its history reconciles with the books',
  async (title, style) => {
    const file = new URL(`adapters/${/\((\w+)\)$/.exec(title)?.[1] ?? ''}.ts`, import.meta.url);
    const { default: adapter } = (await import(file.href)) as { default: ServiceAdapter };
    books = await openBooks({ count: 8 });
    const [absent, less, foreign, odd] = books.orders as [Paid, Paid, Paid, Paid];
    const isShown = (row: unknown) => adapter.read(row)?.reference?.toLowerCase() !== absent.reference;
    // The history has a row of somebody's unpaid transaction instead, so that the pages keep their
    // length.
    const other = () =>
      style.record({ ...service.payment(absent.reference), reference: 'of0somebody0else', isPaid: false });
    const page: Style['page'] = (rows, next) =>
      style.page(
        rows.map((row) => (isShown(row) ? row : other())),
        next,
      );
    const service = await startService({ ...style, page });
    close = service.close;
    const register = await agree(adapter, style, service);
    await register({ ...absent, reference: 'strange0strange0strange0' });
    service.show(less.reference, { amount: service.payment(less.reference).amount - 1 });
    service.show(foreign.reference, { currency: 'GHS' });
    service.show(odd.reference, { isPaid: false });

    const env = { GATEWAY_URL: service.url, GATEWAY_ADAPTER: fileURLToPath(file) };
    const { exit, report } = await books.reconcile([], env);
    const cases = await books.database.query('SELECT reference, class, currency FROM cases ORDER BY id');
    if (title.endsWith('(repeated)')) {
      expect({ exit, ...report }).toMatchObject({
        exit: 2,
        complete: false,
        reason: expect.stringMatching(/page 2/) as unknown,
      });
      expect(cases).toEqual([]);
      return;
    }
    expect({ exit, reason: report?.reason, records: report?.history.records }).toEqual({
      exit: 1,
      reason: null,
      records: 9,
    });
    expect(new Set(cases.map((one) => Object.values(one).join(' ')))).toEqual(
      new Set([
        'strange0strange0strange0 unknown_reference NGN',
        `${absent.reference} absent_from_history NGN`,
        `${foreign.reference} currency_mismatch GHS`,
        // Both sources agree that the money is absent, or absent in this currency.
        ...[less, foreign].map(({ reference }) => `${reference} reversed NGN`),
        `${odd.reference} contradicted NGN`,
      ]),
    );
    expect(report?.identity.map(({ currency }) => currency).sort()).toEqual(['GHS', 'NGN']);
    for (const { currency, serviceTotal, earned, classes, difference } of report?.identity ?? []) {
      const minor = (text: string) => parseMajor(text, currency) ?? 0n;
      const sum = Object.values(classes).reduce((all, one) => all + minor(one), minor(earned));
      expect([currency, sum, minor(difference)]).toEqual([currency, minor(serviceTotal), 0n]);
      expect(minor(serviceTotal)).toBeGreaterThan(0n);
    }
  },
);
