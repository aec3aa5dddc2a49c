import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { eventually } from '../support/eventually.ts';
import { startReceiver, type Receiver } from '../support/receiver.ts';
import { startShop, type Shop } from '../support/shop.ts';
import { buy, json, statusOf } from './support.ts';

type Row = { id: number | null; class: string; sentence: string };

let receiver: Receiver;
let shop: Shop;
beforeAll(async () => {
  receiver = await startReceiver();
  shop = await startShop({ env: receiver.env });
});
afterAll(async () => {
  await shop.stop();
  await receiver.close();
});

const act = (...words: string[]) => shop.command([...words, '--by', 'Ada'], receiver.env);
const unsent = async (orderId: string) =>
  (await shop.database.query('SELECT id, held_by FROM messages WHERE order_id = $1 AND sent_at IS NULL', [orderId]))[0];
const isSent = (orderId: string) => eventually(async () => (await unsent(orderId)) === undefined);

test('the work list has a line with advice for each case, and a decision applies once, to the case as it was seen', async () => {
  const { orderId, reference } = await buy(shop, {}, { amount: 8000 }, 'review');
  const figures = { held: '8000.00', missing: '0.00', currency: 'NGN' };
  const [[row, ...others], text] = await Promise.all([json<Row[]>(shop, 'cases', 'list'), shop.command(['cases'])]);
  const openedAt: unknown = expect.stringMatching(/^\d{4}-.*Z$/);
  const sentence: unknown = expect.stringMatching(/8,000\.00 came for an order of NGN 8,500\.00/);
  const [id, name] = [expect.any(Number) as unknown, 'underpaid'];
  expect([row, others]).toEqual([{ id, class: name, reference, orderId, ...figures, openedAt, sentence }, []]);
  const number = String(row?.id);
  expect(text.out).toMatch(
    new RegExp(`^${number} {2}.*\n {4}Ask the customer to pay the rest, send it anyway, or refund`),
  );
  const { seen } = await json<{ seen: string }>(shop, 'cases', 'show', number);

  const decide = (...more: string[]) => act('cases', 'decide', number, '--as', 'accept', '--note', 'fine', ...more);
  expect(await decide('--seen', 'another')).toMatchObject({ exit: 1, err: expect.stringMatching(/has changed/) });
  expect(await decide('--seen', seen)).toMatchObject({ exit: 0, out: expect.stringMatching(/The order \w+ is paid/) });
  expect(await statusOf(shop, orderId)).toBe('paid');
  await isSent(orderId);
  const [again, open, all] = await Promise.all([decide(), json(shop, 'cases'), json(shop, 'cases', 'list', '--all')]);
  expect([again.exit, open, all]).toEqual([1, [], [expect.objectContaining({ id: row?.id })]]);
});

test('the work list shows messages that were given up and what the last whole run could not settle, without a case', async () => {
  receiver.answer(500);
  const { orderId } = await buy(shop);
  const given = `UPDATE messages SET next_try_at = NULL WHERE order_id = $1 AND last_error IS NOT NULL
    AND leased_until IS NULL RETURNING id`;
  await eventually(async () => (await shop.database.query(given, [orderId])).length > 0);
  const balances = [
    { currency: 'NGN', balance: '1.00', difference: '-1200.00' },
    { currency: 'XOF', balance: '1', difference: '0' },
  ];
  const report = JSON.stringify({ history: { unreadable: 3 }, balances });
  const run = `INSERT INTO runs (mode, "full", verdict, report) VALUES ('test', true, 'findings', $1)`;
  await shop.database.query(run, [report]);
  const rows = await json<Row[]>(shop, 'cases', 'list');
  expect(rows.map((row) => [row.id, row.class])).toEqual([
    [null, 'message'],
    [null, 'unreadable_rows'],
    [null, 'balance'],
  ]);
  expect(rows[2]?.sentence).toMatch(/NGN .*1,200\.00 lower/);
  receiver.answer(204);
  expect(await act('messages', 'resend', 'all')).toMatchObject({ exit: 0, out: expect.stringMatching(/: 1\.$/) });
  await isSent(orderId);
});

test('a person can hold a message until somebody sends it again, and a sent message cannot be held', async () => {
  receiver.answer(500);
  const { orderId } = await buy(shop);
  const id = String((await eventually(() => unsent(orderId)))?.id);
  const hold = () => act('messages', 'hold', id, '--note', 'the address is wrong');
  expect(await hold()).toMatchObject({ exit: 0 });
  expect(await json(shop, 'messages')).toContainEqual(expect.objectContaining({ id, state: 'held: Ada' }));
  receiver.answer(204);
  // Sending all waiting messages does not send a message that somebody holds.
  expect(await act('messages', 'resend', 'all')).toMatchObject({ exit: 0, out: expect.stringMatching(/: 0\.$/) });
  expect((await unsent(orderId))?.held_by).toBe('Ada');
  expect(await act('messages', 'resend', id)).toMatchObject({ exit: 0 });
  await isSent(orderId);
  expect(await hold()).toMatchObject({ exit: 1, err: expect.stringMatching(/already sent/) });
  expect(await act('messages', 'resend', 'msg_none')).toMatchObject({ exit: 64 });
});
