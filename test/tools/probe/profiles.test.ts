import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, expect, test } from '@jest/globals';
import { createDay, STORIES } from '../../../tools/scenarios/demo-day.ts';
import { foldWord, parseDialect, type Dialect } from '../../../src/gateway/dialect/dialect.ts';
import { findRecord, readEvidence } from '../../../src/gateway/records/evidence.ts';
import { startListener } from '../../../tools/probe/listener.ts';
import { probe, type Probed } from '../../../tools/probe/probe.ts';
import { at } from '../../../src/gateway/dialect/json-pointer.ts';
import { SecretKey } from '../../../src/gateway/secret-key.ts';
import { endOf } from '../../../tools/scenarios/order-end.sql.ts';
import { systemClock } from '../../../src/platform/clock.ts';
import { Secret } from '../../../src/platform/secret.ts';
import { PROFILE_NAMES, PROFILES, type ProfileName } from '../../../local/sandbox/profiles/all.ts';
import type { Person } from '../../../tools/probe/person.ts';
import type { StartedServer } from '../../../src/bootstrap/start-server.ts';
import { IS_WHOLE, someOf } from '../../support/extent.ts';
import { testOfAll } from '../../support/test-of-all.ts';
import { checkInvariants } from '../../support/invariants.ts';
import { startProgram } from '../../support/program.ts';
import { PROFILE_DIALECTS } from '../../local/sandbox/profile-dialects.ts';
import { cleanUp, newFolder, onCleanUp, SECRET, start } from '../../local/sandbox/support.ts';
import { nobody, personAt } from './person.ts';

// Every service for itself, side by side.
afterAll(cleanUp);

/** One with few own words, one whose record lies deeper, one in minor units whose list goes on by a cursor. */
const UNLIKE: readonly ProfileName[] = ['aggregator', 'invoices', 'sessions'];
const PROBED = IS_WHOLE ? PROFILE_NAMES : someOf(UNLIKE, 1);

async function probed(profile: ProfileName, somebody = true, given: object = {}): Promise<Probed> {
  const sandbox = await start({ profile });
  const listener = await startListener('127.0.0.1', 0);
  onCleanUp(listener.close);
  sandbox.setWebhookUrl(`http://127.0.0.1:${listener.port}/webhooks/payments`);
  const person: Person = somebody ? personAt(sandbox, profile) : nobody;
  return probe({
    url: new URL(sandbox.url),
    key: new SecretKey(sandbox.testKey),
    dialect: parseDialect(JSON.stringify(given)).dialect,
    given: given as Record<string, unknown>,
    secrets: [new Secret(SECRET)],
    email: 'probe@example.com',
    money: { amount: 10_137n, currency: 'NGN' },
    origin: 'http://localhost:3000',
    // Each ends as soon as what it waits for is true.
    waitMs: somebody ? 120_000 : null,
    hookMs: 60_000,
    lagMs: 60_000,
    maxCalls: 200,
    payments: 3,
    pauseMs: 0,
    clock: systemClock,
    listener,
    person,
  });
}

/** The dialect that holds after the probe: its file over the defaults. */
const after = ({ draft }: Probed): Dialect => parseDialect(draft ?? '{}').dialect;

/** What the probe says that is not so: each change must be what somebody who knows the service wrote by hand. */
function untruths({ findings }: Probed, profile: ProfileName): string[] {
  const truth = parseDialect(JSON.stringify(PROFILE_DIALECTS[profile])).dialect;
  return findings
    .filter(({ change }) => change !== undefined)
    .filter(
      ({ about, change }) => !isTrue(about, change, at(truth, `/${about.replaceAll('.', '/')}`), profile),
    )
    .map(({ about, change }) => `${about}: ${JSON.stringify(change)}`);
}

function isTrue(about: string, change: unknown, truth: unknown, profile: ProfileName): boolean {
  if (about === 'webhook.signature') {
    const { dialect } = parseDialect(JSON.stringify({ webhook: { signature: change } }));
    return JSON.stringify(dialect.webhook.signature) === JSON.stringify(truth);
  }
  if (about.startsWith('statuses.')) {
    const words = (truth as string[]).map(foldWord);
    return (change as string[]).every(
      (word) => words.includes(foldWord(word)) || isWordOf(profile, about, word),
    );
  }
  if (Array.isArray(change) && Array.isArray(truth)) return truth.includes(change[0]);
  return change === truth;
}

// The hand-written dialects know more words than one payment shows, and may lack none that it shows.
function isWordOf(profile: ProfileName, about: string, word: string): boolean {
  const { statuses } = parseDialect(JSON.stringify(PROFILE_DIALECTS[profile])).dialect;
  const list = (statuses as Record<string, string[]>)[about.split('.')[1] ?? ''] ?? [];
  return list.map(foldWord).includes(foldWord(word));
}

/** Each key that the probe draws conclusions about, whatever the service. */
const INFERRED = [
  'amountUnit',
  'initialize.checkoutUrl',
  ...['record', 'reference', 'status', 'amount', 'currency'].map((name) => `verify.${name}`),
  ...['paid', 'pending', 'failed', 'expired', 'reversed'].map((name) => `statuses.${name}`),
  'history.records',
  'history.reference',
  'history.paging.style',
  'webhook.reference',
  'webhook.signature',
];

/** Where the probe says "agrees" and somebody who knows the service wrote something else. */
function wrongAgreements({ findings }: Probed, profile: ProfileName): string[] {
  const truth = parseDialect(JSON.stringify(PROFILE_DIALECTS[profile])).dialect;
  const inForce = parseDialect('{}').dialect;
  return findings
    .filter(({ about, verdict }) => verdict === 'agrees' && at(truth, pointerOf(about)) !== undefined)
    .filter(({ about }) => !isReadAlike(about, at(inForce, pointerOf(about)), at(truth, pointerOf(about))))
    .map(({ about, seen }) => `${about}: ${seen}`);
}

const pointerOf = (about: string): string => `/${about.replaceAll('.', '/')}`;

/**
 * A list of words may lack those that one payment does not show, `auto` finds the style that somebody wrote down, and
 * each lag that the list keeps to holds.
 */
function isReadAlike(about: string, inForce: unknown, truth: unknown): boolean {
  if (about.startsWith('statuses.') || about === 'history.lagSec') return true;
  if (about === 'history.paging.style') return inForce === 'auto' && truth !== 'offset' && truth !== 'none';
  return JSON.stringify(inForce) === JSON.stringify(truth);
}

/** What the service's own description says of where the facts are. */
function factsRead(probed: Probed, profile: ProfileName): unknown {
  const { verify, amountUnit } = after(probed);
  const { facts, unit } = PROFILES[profile];
  const document = probed.observed.after?.json;
  const record = findRecord(document, verify.record)?.pointer ?? '?';
  const used = (pointers: readonly string[]): string =>
    `${record}${pointers.find((pointer) => at(document, `${record}${pointer}`) !== undefined) ?? '?'}`;
  return {
    unit: amountUnit === unit,
    reference: used(verify.reference) === facts.reference,
    status: used(verify.status) === facts.status,
    amount: used(verify.amount) === facts.amount,
    currency: used(verify.currency) === facts.currency,
  };
}

const READ = ['agrees', '3 of 3 payments are read, the paid one with its amount'];

test.concurrent.each(PROBED)(
  'at a service of the kind %s the probe claims nothing wrong, and under what it wrote the demo day ends as it should',
  async (profile) => {
    const result = await probed(profile);
    expect(untruths(result, profile)).toEqual([]);
    expect(wrongAgreements(result, profile)).toEqual([]);
    const readBack = result.findings.filter(({ about }) => about.startsWith('read back'));
    expect(readBack.map(({ verdict, seen }) => [verdict, seen])).toEqual([READ, READ]);
    const abouts = result.findings.map(({ about }) => about);
    expect(INFERRED.filter((key) => !abouts.includes(key))).toEqual([]);
    expect(factsRead(result, profile)).toEqual({
      unit: true,
      reference: true,
      status: true,
      amount: true,
      currency: true,
    });
    const record = findRecord(result.observed.after?.json, after(result).verify.record)?.record;
    expect(readEvidence(record, after(result).verify, after(result), 'NGN')).toMatchObject({
      status: 'paid',
      reference: { value: result.observed.sent[0]?.reference },
      amount: { value: 10_137n },
      currency: { value: 'NGN' },
    });
    await playTheDay(profile, result.draft ?? '{}');
  },
  400_000,
);

/** The stories of `npm run demo`, and the books in the evening. */
async function playTheDay(profile: ProfileName, dialect: string): Promise<void> {
  const file = join(await newFolder(), 'dialect.json');
  await writeFile(file, dialect);
  const env = { GATEWAY_DIALECT: file, WEBHOOK_SECRETS: 'whsec_test', GATEWAY_CALLS_PER_SECOND: '0' };
  const shop = await startProgram({ profile, env, worker: true });
  onCleanUp(shop.close);
  const { program, origin, sandbox } = shop;
  const day = createDay({ program, origin, services: { sandboxUrl: sandbox.url } } as StartedServer);
  const orders = await Promise.all(STORIES.map((story) => story.play(day)));
  for (const [index, { ends, foundBy }] of STORIES.entries()) {
    if (foundBy.includes('reconciliation')) continue;
    const order = orders[index] ?? '';
    await day.until(
      `${order} is ${ends}`,
      async () => (await endOf(program.database, order))?.status === ends,
    );
  }
  const report = await program.reconcile({ dryRun: false });
  expect(report).toMatchObject({
    complete: true,
    incompleteReason: null,
    findings: { underpaid: 1, duplicate_payment: 1 },
  });
  expect(report.identity.map(({ difference }) => /^[0.]+$/.test(difference))).not.toContain(false);
  const ended = await Promise.all(orders.map((order) => endOf(program.database, order)));
  expect(ended.map((end) => [end?.status, end?.releases, end?.suspense])).toEqual(
    STORIES.map(({ ends, suspense }) => [ends, ends === 'paid' ? 1 : 0, suspense]),
  );
  expect(await checkInvariants({ database: program.database, sandboxUrl: sandbox.url })).toEqual([]);
}

test('the default dialect agrees with the plain service, but for the order of its list, which is not assumed', async () => {
  const { draft, findings } = await probed('plain');
  const differing = findings.filter(({ verdict }) => verdict === 'differs');
  expect(differing.map(({ about }) => about)).toEqual(['history.paging.newestFirstBy']);
  expect(JSON.parse(draft ?? '{}')).toEqual({ history: { paging: { newestFirstBy: '/createdAt' } } });
});

testOfAll('under the dialect that it wrote the probe finds nothing that differs', async () => {
  const first = await probed('invoices');
  const { findings, draft } = await probed('invoices', true, JSON.parse(first.draft ?? '{}') as object);
  expect(findings.filter(({ verdict }) => verdict === 'differs')).toEqual([]);
  expect(draft).toBeNull();
});

test.each(someOf(PROFILE_NAMES, 2))(
  'where nobody pays and nobody answers, %s: no word and no unit is made up',
  async (profile) => {
    const result = await probed(profile, false);
    expect(untruths(result, profile)).toEqual([]);
    const claimed = result.findings.filter(({ change }) => change !== undefined).map(({ about }) => about);
    expect(claimed).not.toContain('statuses.paid');
    expect(claimed).not.toContain('amountUnit');
    expect(result.needs.map(({ key }) => key)).toContain('statuses.failed');
  },
);

test('a changed word is not called paid where nobody said that they paid', async () => {
  const sandbox = await start({ profile: 'capitals' });
  const silent: Person = {
    ...personAt(sandbox, 'capitals'),
    pays: async (checkout, signal) => {
      await personAt(sandbox, 'capitals').pays(checkout, signal);
      return false;
    },
    tells: () => Promise.resolve(null),
  };
  const { findings } = await probe({
    url: new URL(sandbox.url),
    key: new SecretKey(sandbox.testKey),
    dialect: parseDialect('{}').dialect,
    given: {},
    secrets: [],
    email: 'probe@example.com',
    money: { amount: 10_137n, currency: 'NGN' },
    origin: 'http://localhost:3000',
    waitMs: 120_000,
    hookMs: 0,
    lagMs: 60_000,
    maxCalls: 200,
    payments: 3,
    pauseMs: 0,
    clock: systemClock,
    listener: null,
    person: silent,
  });
  expect(findings.find(({ about }) => about === 'statuses.paid')).toMatchObject({
    verdict: 'cannot tell',
    seen: 'now "Completed", and nobody said that they paid',
  });
});
