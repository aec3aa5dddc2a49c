import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { afterAll, expect, test } from '@jest/globals';

import { endOf } from '../../../tools/scenarios/order-end.sql.ts';
import { PROFILE_NAMES, type ProfileName } from '../../../local/sandbox/profiles/all.ts';
import { checkInvariants } from '../../support/invariants.ts';
import { IS_WHOLE, someOf } from '../../support/extent.ts';
import { eventually, startProgram, type CheckoutAnswer, type TestProgram } from '../../support/program.ts';
import { PROFILE_DIALECTS } from './profile-dialects.ts';
import { cleanUp, newFolder, onCleanUp } from './support.ts';

// Side by side: each waits for its own clock.
afterAll(cleanUp);

// One program, and every service: only the dialect differs, and every order ends where it would with any other.

async function shopAt(profile: ProfileName, dialect: object): Promise<TestProgram> {
  const file = join(await newFolder(), 'dialect.json');
  await writeFile(file, JSON.stringify(dialect));
  const env = { GATEWAY_DIALECT: file, WEBHOOK_SECRETS: 'whsec_test', GATEWAY_CALLS_PER_SECOND: '0' };
  const shop = await startProgram({ profile, env, worker: true });
  onCleanUp(shop.close);
  return shop;
}

/** Minor units; a record that lies deeper; a list that begins with the oldest; one that lists a reversal as its own row. */
const UNLIKE: readonly ProfileName[] = ['minor-units', 'virtual-accounts', 'journal', 'good-news-only'];
const READ = IS_WHOLE ? PROFILE_NAMES : someOf(UNLIKE, 1);

const ends = async (shop: TestProgram, { orderId }: CheckoutAnswer, status: string): Promise<unknown> =>
  eventually(async () => {
    const end = await endOf(shop.program.database, orderId);
    return end?.status === status && end;
  });

/** How many webhooks named the payment and were believed to come from the service. */
const hintsOf = async ({ program }: TestProgram, { reference }: CheckoutAnswer): Promise<number> => {
  const sql = "SELECT id FROM webhooks WHERE reference = $1 AND outcome = 'hinted'";
  return (await program.database.query(sql, [reference])).length;
};

const comeBack = (shop: TestProgram, { reference }: CheckoutAnswer): Promise<unknown> =>
  fetch(`${shop.origin}/checkout/return/${reference}`, { redirect: 'manual' });

test.concurrent.each(READ)(
  'a service of the kind %s is read rightly with its dialect: every order ends where it should, and the books close',
  async (profile) => {
    const shop = await shopAt(profile, PROFILE_DIALECTS[profile]);
    const { program, hand, sandbox } = shop;
    const [told, returned, little, refused, lost] = [
      await shop.checkout(),
      await shop.checkout(),
      await shop.checkout(),
      await shop.checkout(),
      await shop.checkout(),
    ];
    await hand(`transactions/${told.reference}/play`, { fault: 'pay-exact' });
    await hand(`transactions/${returned.reference}/pay`, { notify: false });
    await comeBack(shop, returned);
    await hand(`transactions/${little.reference}/play`, { fault: 'pay-less' });
    await hand(`transactions/${refused.reference}/fail`, {});
    await hand(`transactions/${lost.reference}/pay`, { notify: false });
    expect(await ends(shop, told, 'paid')).toMatchObject({ releases: 1, suspense: [] });
    expect(await ends(shop, returned, 'paid')).toMatchObject({ releases: 1, suspense: [] });
    expect(await ends(shop, little, 'review')).toMatchObject({ releases: 0, suspense: ['underpaid'] });
    expect(await ends(shop, refused, 'failed')).toMatchObject({ releases: 0, suspense: [] });
    expect(await ends(shop, lost, 'paid')).toMatchObject({ releases: 1, suspense: [] });

    await eventually(async () => (await hintsOf(shop, told)) > 0 || profile === 'value-objects');

    await hand(`transactions/${returned.reference}/reverse`, { notify: false });
    const report = await program.reconcile({ dryRun: false });
    expect(report).toMatchObject({
      complete: true,
      incompleteReason: null,
      verdict: 'findings',
      findings: { underpaid: 1, reversed: 1 },
      identity: [{ currency: 'NGN', serviceTotal: '21250.00', confirmed: '25500.00', difference: '0.00' }],
    });
    expect(await checkInvariants({ database: program.database, sandboxUrl: sandbox.url })).toEqual([]);
  },
  400_000,
);

test('without its dialect a service that counts in kobo is not asked for a hundredth of the price', async () => {
  const shop = await shopAt('minor-units', {});
  await expect(shop.checkout()).rejects.toThrow(/answered 502/);
  expect(await (await fetch(`${shop.sandbox.url}/sandbox/transactions`)).json()).toEqual({
    transactions: [],
  });
});
