import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { keepLines } from '../support/lines.ts';
import { startCollector, type Collector } from '../support/collector.ts';
import { aBasket, post, startProgram, type TestProgram } from '../support/program.ts';

type Line = { msg: string; reference?: string; orderId?: string };
const [KEY, EMAIL] = ['sk_test_c4n4ry', 'c4n4ry@example.com'];
const { logger, lines } = keepLines();
let shop: TestProgram;
/** Takes releases after it has been told to. */
let receiver: Collector;
beforeAll(async () => {
  receiver = await startCollector(503);
  shop = await startProgram({
    slowTime: true,
    logger,
    areWebhooksUnsigned: true,
    env: {
      GATEWAY_SECRET_KEY: KEY,
      FULFILMENT_URL: `${receiver.url}/`,
      FULFILMENT_SECRET: `whsec_${Buffer.from('c4n4ry is kept in thirty-two bytes').toString('base64')}`,
    },
  });
});
afterAll(async () => {
  await shop.close();
  await receiver.close();
});

const sql = (text: string, ...values: unknown[]) => shop.program.database.query(text, values);

/** While `work` runs, the database refuses what `refused` says. */
async function whileRefused(table: string, refused: string, work: () => Promise<unknown>): Promise<void> {
  await sql(`ALTER TABLE ${table} ADD CONSTRAINT nobody CHECK (${refused}) NOT VALID`);
  await work();
  await sql(`ALTER TABLE ${table} DROP CONSTRAINT nobody`);
}

test("every line of a payment's story names it, whatever fails on the way, and none has a key or an address", async () => {
  const { program, origin } = shop;
  const basket = { ...aBasket, email: EMAIL };
  const buy = () => post(`${origin}/checkout`, basket);
  // Checkout: refused by the service, in doubt, and opened by the service while the database is not there to know.
  await shop.hand('outage', { status: 400 });
  await buy();
  await shop.hand('outage', { status: 500 });
  await buy();
  await shop.hand('outage', { status: null });
  await whileRefused('payments', `status <> 'open'`, buy);
  const { reference, orderId } = await shop.checkout(basket);
  const webhook = () =>
    post(`${origin}/webhooks/payments`, { email: EMAIL, data: { reference, status: 'paid' } });
  const comeBack = () =>
    fetch(`${origin}/checkout/return/${reference}?email=${EMAIL}`, { redirect: 'manual' });
  const clock = async (): Promise<void> => {
    await sql(
      'UPDATE payments SET next_check_at = now(), leased_until = NULL WHERE reference = $1',
      reference,
    );
    await program.duePayments.runOnce();
  };
  // Return and webhook: the database refuses.
  await whileRefused('payments', 'hints < 1', comeBack);
  await whileRefused('webhooks', 'deliveries > 9', webhook);
  // The clock: the service is away, the database refuses the answer, and all is well.
  await webhook();
  await shop.hand('outage', { status: 503 });
  await clock();
  await program.reconcile({ dryRun: false });
  await shop.hand('outage', { status: null });
  await shop.hand(`transactions/${reference}/pay`, { notify: false });
  await whileRefused('verifications', 'id < 0', clock);
  await clock();
  await program.dueReleases.runOnce();

  const story = lines
    .map((line) => JSON.parse(line) as Line & { part?: string; event?: string; run?: string })
    // Of the service as a whole, of a run as a whole, or of the stand-in.
    .filter(({ msg, part, event, run }) => !msg.startsWith('the service ') && !part && !event && !run)
    .filter(({ msg }) => !msg.startsWith('sandbox'));
  const nameless = story.filter((line) => line.reference === undefined && line.orderId === undefined);
  expect(nameless).toEqual([]);
  const seen = new Set(story.map(({ msg }) => msg));
  expect([...seen]).toEqual(
    expect.arrayContaining([
      'checkout not opened',
      'request failed',
      'webhook received',
      'check postponed',
      'work on a due row failed',
      'order is paid',
      'release not delivered',
    ]),
  );
  const failed = story.filter(({ msg }) => msg === 'request failed');
  expect(failed.length).toBe(3);
  for (const line of failed) expect(line).toMatchObject({ reference: expect.stringMatching(/^\w{24}$/) });
  // As it is written in the source: the address itself is a stranger's words.
  expect(failed.map((line) => (line as { route?: string }).route)).toContain('/checkout/return/:reference');
  expect(story.filter(({ msg }) => msg === 'order is paid')).toMatchObject([{ reference, orderId }]);
  expect(lines.filter((line) => line.includes('c4n4ry'))).toEqual([]);
});
