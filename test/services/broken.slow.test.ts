import { afterAll, expect, test } from '@jest/globals';
import { rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startShop } from '../support/shop.ts';
import { startService } from './service.ts';
import { STYLES } from './styles.ts';

const PATH = join(tmpdir(), `adapter-${process.pid}.mjs`);
const PLAIN = `import plain from '${new URL('adapters/plain.ts', import.meta.url).href}';`;
const BUGS = `${PLAIN}
  const bug = () => { throw new Error('a bug in it'); };
  export default {
    ...plain,
    verify: { record: (answer) => (answer.currency === 'XOF' ? bug() : answer) },
    read: (record) => (record.currency === 'KWD' ? bug() : plain.read(record)),
    webhook: { references: bug, signature: null },
  };`;
const service = await startService(STYLES['bare records, a list in one piece, webhooks without a signature (plain)']);
afterAll(async () => {
  service.close();
  await rm(PATH);
});
const start = async (code: string) => {
  if (code !== '') await writeFile(PATH, code);
  return startShop({ gatewayUrl: service.url, env: { GATEWAY_ADAPTER: PATH, WEBHOOK_SECRETS: '' } });
};

test.each([
  ['does not exist', '', /with 78:[^]*GATEWAY_ADAPTER: names a file that does not exist/],
  ['is no program', 'export default {', /with 78:[^]*GATEWAY_ADAPTER: .* cannot be used/],
  ['lacks members', 'export default { read: () => null }', /with 78:[^]*at amountUnit[^]*at checkoutLifetimeMin/],
  ['has no unit', `${PLAIN} export default { ...plain, amountUnit: 'cents' }`, /with 78:[^]*amountUnit/],
  [
    'has guessable references',
    `${PLAIN} export default { ...plain, reference: { length: 9, alphabet: '01' } }`,
    /78:[^]*guessed/,
  ],
])('the program does not start with an adapter that %s, and says why', async (_what, code, why) => {
  expect(await start(code).then((shop) => shop.stop(), String)).toMatch(why);
});

test('an error that an adapter throws makes one answer unreadable and breaks nothing else', async () => {
  const shop = await start(BUGS);
  const buy = async (sku: string) => {
    const { reference } = await shop.checkout({ items: [{ sku, quantity: 1 }] });
    service.show(reference, { isPaid: true });
    expect((await shop.request('POST', '/webhooks/payments', service.webhook([reference]))).status).toBe(202);
    expect((await shop.request('GET', service.payment(reference).wayBack)).status).toBe(303);
    const sql = 'SELECT status, outcome, doubt FROM verifications JOIN payments USING (reference) WHERE reference = $1';
    return shop.database.query(sql, [reference]);
  };
  const doubt = expect.stringContaining('Error: a bug in it') as unknown;
  try {
    expect(await buy('djembe')).toEqual([{ status: 'open', outcome: 'unreadable', doubt }]);
    expect(await buy('brass-dallah')).toEqual([{ status: 'open', outcome: 'unreadable', doubt }]);
    expect(await buy('ankara-tote')).toEqual([{ status: 'paid', outcome: 'paid', doubt: null }]);
  } finally {
    await shop.stop();
  }
});
