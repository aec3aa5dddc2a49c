import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { plant } from '../reconciliation/books.ts';
import { startProgram, type TestProgram } from '../support/program.ts';
import { logIn, signed, TOKEN, visitor, type Visitor } from './visitor.ts';

const ADA = 'a-long-token-of-ada';
const EVE = 'a-long-token-of-eve';
const OPERATORS = `Ada:operator:${ADA},Eve:viewer:${EVE}`;
let shop: TestProgram;
beforeAll(async () => {
  shop = await startProgram({ env: { ADMIN_TOKEN: TOKEN, OPERATORS } });
});
afterAll(() => shop.close());

const sql = <Row extends object>(text: string, ...values: unknown[]): Promise<Row[]> =>
  shop.program.database.query<Row>(text, values);

/** Has the service asked about a payment: an action that stands in the journal. @returns who signed it */
async function act(who: Visitor, fields = signed()): Promise<{ status: number; causes: string[] }> {
  const { reference } = await plant(shop.program.database);
  const { status } = await who.send('/admin/checks', [['id', reference], ...fields]);
  const rows = await sql<{ cause: string }>(
    `SELECT cause FROM journal WHERE reference = $1 AND event = 'check-asked'`,
    reference,
  );
  return { status, causes: rows.map(({ cause }) => cause) };
}

describe('B8: what is done is signed by the operator and not by what is typed', () => {
  test('by login: no field for a name is shown, and one that is sent all the same counts nothing', async () => {
    const ada = await logIn(shop, ADA);
    const { orderId } = await shop.checkout();
    const page = await ada.text(`/admin/orders/${orderId}`);
    expect(page).toContain('Signed by Ada');
    expect(page).not.toContain('name="by"');
    expect(await act(ada)).toEqual({ status: 303, causes: ['operator:Ada'] });
    expect(await act(ada, [['note', 'because']])).toEqual({ status: 303, causes: ['operator:Ada'] });
    expect(await act(ada, [...signed(), ['by', 'Eve']])).toEqual({ status: 303, causes: ['operator:Ada'] });
  });

  test('by a bearer token', async () => {
    const bearer = { authorization: `Bearer ${ADA}` };
    const page = await (await fetch(`${shop.origin}/admin`, { headers: bearer })).text();
    expect(page).toContain('Ada');
    const { reference } = await plant(shop.program.database);
    const { orderId } = await shop.checkout();
    const html = await (await fetch(`${shop.origin}/admin/orders/${orderId}`, { headers: bearer })).text();
    const form = /name="form" value="([^"]*)"/.exec(html)?.[1] ?? '';
    const body = new URLSearchParams([['form', form], ['id', reference], ...signed()]);
    await fetch(`${shop.origin}/admin/checks`, { method: 'POST', headers: bearer, body, redirect: 'manual' });
    expect(await sql('SELECT cause FROM journal WHERE reference = $1', reference)).toContainEqual({
      cause: 'operator:Ada',
    });
  });

  test('ADMIN_TOKEN is one operator, called admin, who cannot sign for another', async () => {
    expect(await act(await logIn(shop), [...signed(), ['by', 'Ada']])).toMatchObject({
      causes: ['operator:admin'],
    });
  });
});

describe('B8: a viewer looks', () => {
  test('at every page, and at metrics', async () => {
    const eve = await logIn(shop, EVE);
    for (const path of ['/admin', '/admin/orders', '/admin/cases', '/admin/releases', '/admin/runs'])
      expect((await eve.get(path)).status).toBe(200);
    const headers = { authorization: `Bearer ${EVE}` };
    expect((await fetch(`${shop.origin}/metrics`, { headers })).status).toBe(200);
  });

  test.each(['checks', 'cases', 'cases/money-1', 'releases', 'webhooks/1', 'a-form-of-tomorrow'])(
    'and does nothing: POST /admin/%s',
    async (path) => {
      const eve = await logIn(shop, EVE);
      const answer = await eve.send(`/admin/${path}`, [['id', '1'], ...signed()]);
      expect(answer.status).toBe(403);
      const program = await fetch(`${shop.origin}/admin/${path}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${EVE}` },
      });
      expect([program.status, await program.json()]).toEqual([
        403,
        expect.objectContaining({ type: '/problems/viewer-may-not-act', status: 403 }),
      ]);
    },
  );

  test('nothing is written for one', async () => {
    expect(await act(await logIn(shop, EVE))).toEqual({ status: 403, causes: [] });
  });

  test('but may leave', async () => {
    const eve = await logIn(shop, EVE);
    expect((await eve.send('/admin/logout', [])).status).toBe(303);
    expect((await eve.get('/admin')).status).toBe(303);
  });
});

describe('B8: a login belongs to one token', () => {
  test('it ends where that operator is gone, and only that one', async () => {
    const [ada, eve, admin] = [await logIn(shop, ADA), await logIn(shop, EVE), await logIn(shop)];
    const later = await startProgram({ env: { ADMIN_TOKEN: TOKEN, OPERATORS: `Eve:operator:${EVE}` } });
    const statusOf = async ({ cookie }: Visitor): Promise<number> =>
      (await visitor(later, cookie).get('/admin')).status;
    expect([await statusOf(ada), await statusOf(eve), await statusOf(admin)]).toEqual([303, 200, 200]);
    await later.close();
  });

  test('operators alone do: nobody needs ADMIN_TOKEN, and without a token nothing is shown at this machine', async () => {
    const named = await startProgram({ env: { OPERATORS } });
    expect((await fetch(`${named.origin}/metrics`)).status).toBe(401);
    expect((await fetch(`${named.origin}/admin`, { redirect: 'manual' })).status).toBe(303);
    expect((await (await logIn(named, ADA)).get('/admin')).status).toBe(200);
    await named.close();
  });
});
