import { createHmac } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { plant } from '../reconciliation/books.ts';
import { startProgram } from '../support/program.ts';

test('a webhook under a test key moves no live payment, whatever reference it names', async () => {
  const shop = await startProgram();
  try {
    const { database } = shop.program;
    const { reference } = await plant(database, { mode: 'live' });
    const body = JSON.stringify({ event: 'payment', data: { reference, status: 'SUCCESS' } });
    const signature = createHmac('sha256', shop.sandbox.webhookSecret).update(body).digest('hex');
    const headers = { 'content-type': 'application/json', 'x-signature': signature };
    const answer = await fetch(`${shop.origin}/webhooks/payments`, { method: 'POST', headers, body });
    expect(answer.status).toBe(202);
    expect(await database.query('SELECT outcome FROM webhooks')).toEqual([{ outcome: 'ignored' }]);
    expect(await database.query('SELECT hints, checks, status FROM payments')).toEqual([
      { hints: 0, checks: 0, status: 'open' },
    ]);
  } finally {
    await shop.close();
  }
});
