import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { explain } from '../../src/reporting/explain.ts';
import { startProgram, type TestProgram } from '../support/program.ts';
import { startReleaseReceiver, type ReleaseReceiver } from '../support/release-receiver.ts';
import { logIn, signed, TOKEN, type Visitor } from './visitor.ts';

let receiver: ReleaseReceiver;
let shop: TestProgram;
let person: Visitor;
beforeAll(async () => {
  receiver = await startReleaseReceiver();
  shop = await startProgram({ env: { ADMIN_TOKEN: TOKEN, ...receiver.env } });
});
beforeEach(async () => {
  person = await logIn(shop);
});
afterAll(async () => {
  await shop.close();
  await receiver.close();
});

const sql = <Row extends object>(text: string, ...values: unknown[]): Promise<Row[]> =>
  shop.program.database.query<Row>(text, values);
const entries = (orderId: string) =>
  sql<{ event: string; cause: string; detail: object }>(
    `SELECT event, cause, detail FROM journal WHERE order_id = $1 AND cause LIKE 'operator:%' ORDER BY seq`,
    orderId,
  );
const comeBack = (reference: string) =>
  fetch(`${shop.origin}/checkout/return/${reference}`, { redirect: 'manual' });

async function bought(body: object = {}): Promise<{ orderId: string; reference: string }> {
  const order = await shop.checkout();
  await shop.hand(`transactions/${order.reference}/pay`, { notify: false, ...body });
  return order;
}

describe('check now', () => {
  test('asks the service, confirms, and the journal says who asked and why', async () => {
    const { orderId, reference } = await bought();
    const page = await person.sendAndRead('/admin/checks', [
      ['id', reference],
      ...signed('she says she paid'),
    ]);
    expect(page).toContain('Checked with the payment service.');
    expect(page).toContain('order-paid');
    expect(await entries(orderId)).toEqual([
      { event: 'check-asked', cause: 'operator:Ngozi', detail: { note: 'she says she paid' } },
    ]);
    expect(await sql('SELECT cause, outcome FROM verifications WHERE reference = $1', reference)).toEqual([
      { cause: 'operator', outcome: 'paid' },
    ]);
    expect((await explain(shop.program.database, orderId))?.orderDetail.contradictions).toEqual([]);
  });

  test('asked four times within seconds, the service is asked again only after ten', async () => {
    const { orderId, reference } = await shop.checkout();
    const asked = Array<string>(4).fill('Checked with the payment service.');
    for (const words of [...asked, 'The service was asked seconds ago'])
      expect(await person.sendAndRead('/admin/checks', [['id', reference], ...signed()])).toContain(words);
    expect(await entries(orderId)).toHaveLength(5);
    expect(await sql('SELECT id FROM verifications WHERE reference = $1', reference)).toHaveLength(1);
  });

  test('when the service cannot be asked, that is told and the clock goes on', async () => {
    const { orderId, reference } = await bought();
    await shop.hand('outage', { status: 503 });
    const told = await person.sendAndRead('/admin/checks', [['id', reference], ...signed()]);
    await shop.hand('outage', { status: null });
    expect(told).toContain('The service could not be asked now.');
    expect(await entries(orderId)).toHaveLength(1);
    const [payment] = await sql(
      'SELECT next_check_at > now() AS later FROM payments WHERE reference = $1',
      reference,
    );
    expect(payment).toEqual({ later: true });
  });

  test('a payment that is not ours is told so', async () => {
    const answer = await person.send('/admin/checks', [['id', 'x'.repeat(24)], ...signed()]);
    expect(answer.headers.get('location')).toContain('told=unknown:1');
  });
});

describe('nobody acts without a name and a reason', () => {
  test.each<[string, [string, string][], string]>([
    [
      'a name is missing',
      [
        ['id', '1'],
        ['note', 'x'],
        ['by', ' '],
      ],
      'unnamed:1',
    ],
    [
      'a reason is missing',
      [
        ['id', '1'],
        ['by', 'Ngozi'],
      ],
      'unnamed:1',
    ],
    [
      'the name is that of the program',
      [
        ['id', '1'],
        ['by', 'confirmation'],
        ['note', 'x'],
      ],
      'not-a-person:1',
    ],
    ['no row is ticked', signed(), 'nothing:1'],
  ])('%s', async (_name, fields, told) => {
    for (const path of ['/admin/cases', '/admin/cases/money-1', '/admin/releases']) {
      const answer = await person.send(path, fields);
      expect(answer.headers.get('location')).toContain(`told=${told}`);
    }
  });

  test('the browser keeps the name for the next form', async () => {
    const answer = await person.send('/admin/cases', [
      ['id', '1'],
      ['by', 'Ngozi Ọkọ'],
      ['note', 'x'],
    ]);
    const line = answer.headers.get('set-cookie') ?? '';
    expect(line).toMatch(/^__Host-admin-name=.*HttpOnly; Secure; SameSite=Strict$/);
    const { orderId } = await shop.checkout();
    const page = await fetch(`${shop.origin}/admin/orders/${orderId}`, {
      headers: { cookie: `${person.cookie}; ${line.split(';')[0] ?? ''}` },
    });
    expect(await page.text()).toContain('value="Ngozi Ọkọ"');
  });
});

describe('releases and webhooks', () => {
  test('a release is delivered again under its id, and the journal says who wanted it', async () => {
    const { orderId, reference } = await bought();
    await comeBack(reference);
    await shop.program.dueReleases.runOnce();
    const [release] = await sql<{ id: string }>('SELECT id FROM releases WHERE order_id = $1', orderId);
    const page = await person.sendAndRead('/admin/releases', [
      ['id', release?.id ?? ''],
      ['order', orderId],
      ...signed('the warehouse lost it'),
    ]);
    expect(page).toContain('1 delivery is due now.');
    expect(page).toContain(orderId);
    expect(await entries(orderId)).toMatchObject([
      { event: 'release-redelivery', cause: 'operator:Ngozi', detail: { note: 'the warehouse lost it' } },
    ]);
  });

  test('one that came before the dialect knew where its reference stands is read again', async () => {
    const { orderId, reference } = await bought();
    const store = async (body: string): Promise<string> => {
      const [row] = await sql<{ id: bigint }>(
        `INSERT INTO webhooks (mode, body, body_sha256, authenticity, outcome)
         VALUES ('test', convert_to($1, 'UTF8'), sha256(convert_to($1, 'UTF8')), 'signed', 'ignored') RETURNING id`,
        body,
      );
      return `/admin/webhooks/${row?.id ?? ''}`;
    };
    const path = await store(JSON.stringify({ data: { reference } }));
    expect(await person.text(path)).toContain('no reference was found in it');
    expect(await person.sendAndRead(path, [['id', reference], ...signed()])).toContain(
      'Checked with the payment service.',
    );
    expect(await sql('SELECT status FROM orders WHERE id = $1', orderId)).toEqual([{ status: 'paid' }]);
    for (const body of ['no JSON', '{"data": {}}', `{"data": {"reference": "${'x'.repeat(24)}"}}`]) {
      const other = await store(body);
      expect(await person.text(other)).not.toContain('Check again');
      // The body decides, whatever a form says.
      expect(await person.sendAndRead(other, [['id', reference], ...signed()])).toContain('no such row');
    }
  });

  test('a webhook is shown as text, and acted upon again', async () => {
    const { orderId, reference } = await bought();
    const [row] = await sql<{ id: bigint }>(
      `INSERT INTO webhooks (mode, body, body_sha256, authenticity, reference, outcome)
       VALUES ('test', convert_to($2, 'UTF8'), sha256(convert_to($2, 'UTF8')), 'unsigned', $1, 'ignored') RETURNING id`,
      reference,
      `{"reference": "${reference}", "x": "<script>alert(1)</script>\u202e"}`,
    );
    const path = `/admin/webhooks/${row?.id ?? ''}`;
    const page = await person.text(path);
    expect(page).toContain('&lt;script>alert(1)');
    expect(page).not.toContain('<script>alert');
    expect(page).not.toContain('\u202e');
    expect(await person.sendAndRead(path, [['id', reference], ...signed()])).toContain(
      'Checked with the payment service.',
    );
    expect(await entries(orderId)).toMatchObject([
      { event: 'check-asked', detail: { webhook: String(row?.id) } },
    ]);
    expect(await sql('SELECT status FROM orders WHERE id = $1', orderId)).toEqual([{ status: 'paid' }]);
  });
});
