import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, expect, test } from '@jest/globals';
import { endOf } from '../../../tools/scenarios/order-end.sql.ts';
import { IS_WHOLE } from '../../support/extent.ts';
import { checkInvariants } from '../../support/invariants.ts';
import { eventually, startProgram, type CheckoutAnswer } from '../../support/program.ts';
import { ALL, HOSTILE } from './hostile-kinds.ts';
import { cleanUp, initialize, newFolder, onCleanUp } from './support.ts';

afterAll(cleanUp);

/** That all money is in the class where it belongs, and in the sums. */
const SUMS = /^I(3|5|20):/;
const EVERY = Object.entries(HOSTILE);
const PLAYED = IS_WHOLE ? EVERY : EVERY.filter(([name]) => name.startsWith('a page that is a failure'));

test.concurrent.each(PLAYED)(
  'a service with %s: nobody is paid without proof, and no row is lost without a word',
  async (_name, hostile) => {
    const { service: profile, dialect = {}, sku = 'ankara-tote' } = hostile;
    const { ends, report, isMisread = false } = hostile;
    const file = join(await newFolder(), 'dialect.json');
    await writeFile(file, JSON.stringify(dialect));
    const env = { GATEWAY_DIALECT: file, GATEWAY_CALLS_PER_SECOND: '0' };
    const shop = await startProgram({ profile, env, worker: true });
    onCleanUp(shop.close);
    const { program, hand, sandbox } = shop;
    const basket = { email: 'ada@example.com', items: [{ sku, quantity: 2 }] };
    const orders: CheckoutAnswer[] = [];
    while (orders.length < ends.length) orders.push(await shop.checkout(basket));
    const [told, lost, little, refused] = orders.map(({ reference }) => reference);
    await hand(`transactions/${told ?? ''}/pay`);
    await hand(`transactions/${lost ?? ''}/pay`, { notify: false });
    await hand(`transactions/${little ?? ''}/play`, { fault: 'pay-less' });
    await hand(`transactions/${refused ?? ''}/fail`);
    const amount = profile.unit === 'minor' ? '2500' : '25.00';
    await initialize(sandbox, { reference: '"somebody-else"', amount });
    await hand('transactions/somebody-else/pay');
    const ended = async (): Promise<unknown[]> =>
      Promise.all(orders.map(async ({ orderId }) => (await endOf(program.database, orderId))?.status));
    await eventually(async () => (await ended()).join() === ends.join()).catch(() => undefined);
    expect(await ended()).toEqual(ends);

    const said = await program.reconcile({ dryRun: false });
    expect(said).toMatchObject(report);
    expect(said.verdict).not.toBe('agreed');
    if (!said.complete) expect(await program.reconcile({ dryRun: false })).toMatchObject(ALL);
    expect(await ended()).toEqual(ends);
    const broken = await checkInvariants({ database: program.database, sandboxUrl: sandbox.url });
    expect(broken.filter((line) => !isMisread || !SUMS.test(line))).toEqual([]);
  },
  400_000,
);
