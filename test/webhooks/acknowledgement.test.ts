import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from '@jest/globals';
import { PROFILE_DIALECTS } from '../local/sandbox/profile-dialects.ts';
import { eventually, startProgram, type TestProgram } from '../support/program.ts';

const folder = mkdtempSync(join(tmpdir(), 'acknowledgement-'));
afterAll(() => {
  rmSync(folder, { recursive: true });
});

/** A shop at a service that takes exactly 200 for an answer, and tells again what it thinks was not taken. */
async function shopThatAnswers(acknowledgement: number): Promise<TestProgram> {
  const file = join(folder, `${acknowledgement}.json`);
  const { webhook, ...rest } = PROFILE_DIALECTS['virtual-accounts'] as { webhook: object };
  writeFileSync(file, JSON.stringify({ ...rest, webhook: { ...webhook, acknowledgement } }));
  const env = { GATEWAY_DIALECT: file, WEBHOOK_SECRETS: 'whsec_test' };
  return startProgram({ profile: 'virtual-accounts', env });
}

const pendingAt = async ({ sandbox }: TestProgram): Promise<number> => {
  const answer = await fetch(`${sandbox.url}/sandbox/webhooks`);
  return ((await answer.json()) as { pending: number }).pending;
};

async function pay(shop: TestProgram): Promise<void> {
  const { reference } = await shop.checkout();
  await shop.hand(`transactions/${reference}/pay`, {});
}

/** How often the one webhook came that is on disk. */
const deliveries = async ({ program }: TestProgram): Promise<number> => {
  const rows = await program.database.query<{ deliveries: number }>('SELECT deliveries FROM webhooks');
  expect(rows.length).toBeLessThanOrEqual(1);
  return rows[0]?.deliveries ?? 0;
};

test('a service that insists on 200 gets 200, and does not send again what is on disk', async () => {
  const shop = await shopThatAnswers(200);
  try {
    await pay(shop);
    await eventually(async () => (await pendingAt(shop)) === 0 && (await deliveries(shop)) > 0);
    expect(await deliveries(shop)).toBe(1);
  } finally {
    await shop.close();
  }
});

test('without that it gets 202, and sends again', async () => {
  const shop = await shopThatAnswers(202);
  try {
    await pay(shop);
    await eventually(async () => (await deliveries(shop)) > 1);
    expect(await pendingAt(shop)).toBe(1);
  } finally {
    await shop.close();
  }
});
