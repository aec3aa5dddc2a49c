import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, expect, test } from '@jest/globals';
import { PROFILE_NAMES, type ProfileName } from '../../local/sandbox/profiles/all.ts';
import type { AlertHook } from '../../src/alerts/alert.ts';
import { DEFAULTS } from '../../src/extensions.ts';
import { newProbeReference } from '../../src/platform/ids.ts';
import { formatTable } from '../../src/platform/terminal.ts';
import type { ReconciliationReport } from '../../src/reconciliation/report/report.ts';
import { PROFILE_DIALECTS } from '../local/sandbox/profile-dialects.ts';
import { ask, cleanUp, initialize, newFolder, onCleanUp } from '../local/sandbox/support.ts';
import { cloneDatabase } from '../support/database.ts';
import { IS_WHOLE } from '../support/extent.ts';
import { plant } from './books.ts';
import { eventually, startProgram, type TestProgram } from '../support/program.ts';

afterAll(cleanUp);

// One database: from the sandbox to a service with a history of others, and from its test key to its live key.

const MOVED_TO: readonly ProfileName[] = IS_WHOLE ? PROFILE_NAMES : ['aggregator'];
const LIVE_KEY = 'sk_live_of_the_shop';
const LIVE = {
  ...{ GATEWAY_SECRET_KEY: LIVE_KEY, GATEWAY_URL: 'http://127.0.0.1:4000', CHECKOUT_HOSTS: '127.0.0.1' },
  ALLOW_LIVE_KEY_ON_LOOPBACK: 'on',
};
const BEGIN = { by: 'Ada', note: 'the shop moves' };
const FOREIGN = IS_WHOLE ? 30 : 6;

/** What of a run a person would look at, one line each, so that a failure shows the whole move. */
const lineOf = (stage: string, report: ReconciliationReport, alerts: readonly string[]): string[] => [
  ...[stage, report.incompleteReason ?? report.verdict, String(report.repaired)],
  ...[JSON.stringify(report.setAside ?? {}), JSON.stringify(report.findings), alerts.join(' ') || 'none'],
  report.identity.every(({ difference }) => Number(difference) === 0) ? 'closes' : 'does not close',
];
const tableOf = (lines: readonly string[][]): string =>
  formatTable(['stage', 'verdict', 'repaired', 'set aside', 'findings', 'alerts', 'books'], lines);

test.concurrent.each(MOVED_TO)('a shop moves to a service of the kind %s', async (profile) => {
  const { url: databaseUrl, drop } = await cloneDatabase();
  onCleanUp(drop);
  const file = join(await newFolder(), 'dialect.json');
  await writeFile(file, JSON.stringify(PROFILE_DIALECTS[profile]));
  const alerts: string[] = [];
  const lines: string[][] = [];
  const onAlert: AlertHook = ({ event, over }) => {
    // That a state is over is told by the next tick of a worker.
    if (!over) alerts.push(event);
  };
  const open = async (env: Record<string, string>, service: ProfileName): Promise<TestProgram> =>
    startProgram({ profile: service, env, databaseUrl, extensions: { ...DEFAULTS, onAlert } });
  const run = async (stage: string, shop: TestProgram, begin?: typeof BEGIN): Promise<void> => {
    const report = await shop.program.reconcile({ dryRun: false, begin });
    lines.push(lineOf(stage, report, alerts.splice(0)));
  };
  /** Opens a payment of 25.00 NGN at the service. */
  const openThere = async (shop: TestProgram, reference: string, key?: string): Promise<void> => {
    const { amountUnit } = shop.program.gateway.dialect;
    const amount = amountUnit === 'minor' ? '2500' : '25.00';
    const opened = await initialize(shop.sandbox, { amount, reference: JSON.stringify(reference) }, key);
    if (opened.status >= 300) throw new Error(opened.text);
  };
  /** What others have done at the service: half of it is paid, and the probe has opened three payments. */
  const addStrangers = async (shop: TestProgram, key?: string): Promise<void> => {
    for (let at = 0; at < FOREIGN + 3; at += 1) {
      const reference = at < FOREIGN ? `before-us-${at}` : newProbeReference();
      await openThere(shop, reference, key);
      if (at % 2 === 0) await shop.hand(`transactions/${reference}/pay`, { notify: false });
    }
    await shop.hand('clock', { forwardSec: 5 }); // some lists are late
  };
  /** A live checkout has an https address, and no stand-in has one: the order is written as a checkout writes it. */
  const placeLive = async (shop: TestProgram): Promise<{ reference: string }> => {
    const planted = await plant(shop.program.database, { mode: 'live', age: '1 minute' });
    await openThere(shop, planted.reference, LIVE_KEY);
    return planted;
  };
  /** One order is paid without a word, one is not. Some services' verify and lists lag. */
  const trade = async (
    shop: TestProgram,
    place: () => Promise<{ reference: string }> = shop.checkout,
    key?: string,
  ): Promise<void> => {
    const [{ reference }] = [await place(), await place()];
    await shop.hand(`transactions/${reference}/pay`, { notify: false });
    await shop.hand('clock', { forwardSec: 5 });
    await eventually(async () => (await ask(shop.sandbox, `verify/${reference}`, key)).status === 200);
  };
  const at = async (shop: TestProgram, work: () => Promise<void>): Promise<void> =>
    work().finally(shop.close);

  const sandbox = await open({}, 'plain');
  await at(sandbox, async () => {
    await trade(sandbox);
    const underpaid = await sandbox.checkout();
    await sandbox.hand(`transactions/${underpaid.reference}/pay`, { amount: '10.00', notify: false });
    await run('at the sandbox', sandbox);
  });
  const env = { GATEWAY_DIALECT: file, WEBHOOK_SECRETS: 'whsec_test', GATEWAY_CALLS_PER_SECOND: '0' };
  const service = await open(env, profile);
  await at(service, async () => {
    await addStrangers(service);
    await run('test key: begin', service, BEGIN);
    await trade(service);
    await run('test key: orders', service);
    await run('test key: again', service);
  });
  const live = await open({ ...env, ...LIVE }, profile);
  await at(live, async () => {
    await addStrangers(live, LIVE_KEY);
    await run('live key: begin', live, BEGIN);
    await trade(live, () => placeLive(live), LIVE_KEY);
    await run('live key: orders', live);
    await run('live key: again', live);
  });

  const quiet = (stage: string, repaired: number, setAside: object, verdict = 'agreed'): string[] => [
    ...[stage, verdict, String(repaired), JSON.stringify(setAside), '{}', 'none', 'closes'],
  ];
  // Of the sandbox three payments are left: paid, open and underpaid, whose money waits for a decision.
  const [inTest, inLive] = [{ before_begin: FOREIGN + 3, probe: 3 }, { before_begin: FOREIGN + 3 }];
  expect(tableOf(lines)).toBe(
    tableOf([
      ['at the sandbox', 'findings', '1', '{}', '{"underpaid":1}', 'findings-raised', 'closes'],
      quiet('test key: begin', 0, inTest, 'findings'),
      quiet('test key: orders', 1, inTest, 'findings'),
      quiet('test key: again', 0, inTest, 'findings'),
      quiet('live key: begin', 0, inLive),
      quiet('live key: orders', 1, inLive),
      quiet('live key: again', 0, inLive),
    ]),
  );
});
