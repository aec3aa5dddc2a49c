import { createHash, createHmac } from 'node:crypto';
import { expect, test } from '@jest/globals';
import type { Mode } from '../../src/platform/mode.ts';
import { createWebhookStore } from '../../src/webhooks/webhooks.sql.ts';
import { logIn, TOKEN } from '../admin/visitor.ts';
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

test('F7: a stored webhook carries the mode of its latest delivery, and operators see it', async () => {
  const shop = await startProgram({ env: { ADMIN_TOKEN: TOKEN } });
  try {
    const { database } = shop.program;
    const keep = createWebhookStore(database, () => ({ slots: 0, take: () => undefined }));
    const receive = (mode: Mode, text: string, authenticity: 'signed' | 'unsigned') => {
      const body = Buffer.from(text);
      const bodySha256 = createHash('sha256').update(body).digest();
      return keep({ mode, body, bodySha256, contentType: '', authenticity, reference: null }, true);
    };
    const modes = (): Promise<unknown[]> =>
      database.query(`SELECT convert_from(body, 'UTF8') AS body, mode FROM webhooks ORDER BY body`);
    await Promise.all([receive('test', '0', 'unsigned'), receive('test', '1', 'signed')]);
    await receive('live', '1', 'signed');
    await receive('live', '2', 'unsigned');
    expect(await modes()).toEqual(
      ['test', 'live', 'live'].map((mode, body) => ({ body: String(body), mode })),
    );
    const person = await logIn(shop);
    const list = await person.text('/admin/webhooks');
    const shown = Array.from(list.matchAll(/>(test|live)<\/td>/g), ([, mode]) => mode).sort();
    expect(shown).toEqual(['live', 'live', 'test']);
    const [live] = await database.query<{ id: bigint }>(`SELECT id FROM webhooks WHERE body = '2'`);
    expect(await person.text(`/admin/webhooks/${String(live?.id)}`)).toContain('<dt>Mode</dt><dd>live</dd>');
    await expect(database.query(`UPDATE webhooks SET mode = 'production'`)).rejects.toThrow(/mode/);
  } finally {
    await shop.close();
  }
});
