import { afterEach, expect, test } from '@jest/globals';
import { SANDBOX_TEST_KEY } from '../../local/sandbox/keys.ts';
import { cloneDatabase } from '../support/database.ts';
import { createGate } from '../support/gate.ts';
import { aBasket, eventually, post } from '../support/program.ts';
import { cleanUp, onCleanUp } from '../support/process.ts';
import { json, startOddService } from '../support/service.ts';
import { startShop } from '../support/shop-process.ts';

afterEach(cleanUp);

/** What a slow service takes after the signal: longer than five seconds, shorter than the process may live on. */
const SERVICE_TAKES_MS = 6_500;

/** A shop whose service takes its time with a checkout, until `opened` is. */
async function aCheckoutUnderWay() {
  const { url, drop } = await cloneDatabase();
  onCleanUp(drop);
  const service = await startOddService();
  const opened = createGate();
  onCleanUp(async () => {
    opened.open();
    await service.close();
  });
  service.answer = (req, res) => {
    void opened.opened.then(() => {
      json({ data: 'https://pay.example.com/slow' })(req, res);
    });
  };
  const env = { DATABASE_URL: url, GATEWAY_URL: service.url.origin, GATEWAY_SECRET_KEY: SANDBOX_TEST_KEY };
  const shop = await startShop({ service: service.url.origin, env });
  const answer = post(`${shop.origin}/checkout`, aBasket);
  await eventually(() => Promise.resolve(service.requests.some(({ method }) => method === 'POST')));
  return { shop, answer, opened };
}

test('G14: a checkout that is under way when the process is told to stop gets its answer', async () => {
  const { shop, answer, opened } = await aCheckoutUnderWay();
  const ended = shop.stop();
  setTimeout(opened.open, SERVICE_TAKES_MS);
  const { status } = await answer;
  expect(status).toBe(201);
  expect((await ended).code).toBe(0);
}, 60_000);

test('a second signal, of whichever kind, ends the process at once', async () => {
  const { shop, answer } = await aCheckoutUnderWay();
  const cut = answer.catch(() => null);
  const ended = shop.stop('SIGINT');
  // It has heard the first one.
  await eventually(async () => (await shop.get('/readyz').catch(() => null))?.status !== 200);
  process.kill(shop.pid, 'SIGTERM');
  expect((await ended).code).toBe(130);
  await cut;
}, 60_000);
