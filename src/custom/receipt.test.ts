import { expect, test } from '@jest/globals';
import { startMailServer } from '../../test/support/mail-server.ts';
import { startProgram } from '../../test/support/program.ts';
import { DEFAULTS } from '../extensions.ts';
import type { Receiver } from '../fulfilment/release.ts';
import { openSuspense } from '../cases/suspense.sql.ts';
import { eraseAddress } from '../orders/erasure.sql.ts';
import { receiptByMail } from './receipt.ts';

test('a receipt goes to the address of the order, at least once and under one message id', async () => {
  const mail = await startMailServer();
  const send = receiptByMail('The Lamp Shop <help@lamps.example>', mail.url);
  const faults: unknown[] = [];
  const receiver: Receiver = (...release) =>
    send(...release).catch((error: unknown) => {
      faults.push(error);
      throw error;
    });
  const shop = await startProgram({ extensions: { ...DEFAULTS, receiver } });
  const { database, dueReleases, redeliver } = shop.program;
  const { orderId, reference } = await shop.checkout();
  await shop.hand(`transactions/${reference}/pay`, { notify: false });
  await fetch(`${shop.origin}/checkout/return/${reference}`, { redirect: 'manual' });
  const deliver = async (): Promise<void> => {
    expect(await redeliver({ idOrOrderId: orderId, by: 'Ngozi', note: null })).toBe('due');
    await dueReleases.runOnce();
  };
  mail.state.isFailing = true;
  await deliver();
  expect([faults.length, mail.state.mails]).toEqual([1, []]);
  mail.state.isFailing = false;
  await deliver();
  await deliver();
  expect(mail.state.mails).toHaveLength(2);
  const [row] = await database.query<{ id: string }>('SELECT id FROM releases');
  for (const text of mail.state.mails) {
    expect(text).toContain(`Message-ID: <${row?.id ?? ''}@lamps.example>\r\n`);
    expect(text).toMatch(/^To: ada@example\.com\r$/m);
    expect(text).not.toContain('We accepted');
    expect(text).toContain('1 x Ankara tote bag, NGN 8,500.00');
    expect(text).toContain(`Subject: Your receipt for order ${orderId}`);
  }
  await eraseAddress(database, { email: 'ada@example.com', by: 'Ngozi', note: 'asked', evenOpen: true });
  await deliver();
  expect([faults.length, mail.state.mails.length]).toEqual([1, 2]);
  const short = await shop.checkout({
    email: 'eve@example.com',
    items: [{ sku: 'ankara-tote', quantity: 1 }],
  });
  await shop.hand(`transactions/${short.reference}/pay`, { notify: false, amount: '8000.00' });
  await fetch(`${shop.origin}/checkout/return/${short.reference}`, { redirect: 'manual' });
  const [item] = await openSuspense(database, 'test');
  const { accept } = shop.program;
  expect(await accept({ id: item?.id ?? 0n, by: 'Ngozi', note: 'enough', seen: null })).toBe('accepted');
  await dueReleases.runOnce();
  const sums = 'Total NGN 8,500.00\r\nWe accepted NGN 8,000.00 as the payment of this order.';
  expect(mail.state.mails.at(-1)).toContain(sums);
  await shop.close();
  await mail.close();
});
