import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test } from '@jest/globals';
import { parseDialect, type Dialect } from '../../src/gateway/dialect/dialect.ts';
import { someOf } from '../support/extent.ts';
import { cleanUp, newFolder } from '../support/process.ts';
import { CTRL_C, CTRL_D, ENTER, openTerminal, type Terminal } from '../support/terminal.ts';
import { testOfAll } from '../support/test-of-all.ts';

afterEach(cleanUp);

type Sitting = { screen: Terminal; folder: string };

/** Somebody types `npm run probe` for a service of one kind. */
async function probeAt(profile: string, ...args: string[]): Promise<Sitting> {
  const cwd = await newFolder();
  const all = ['--profile', profile, '--out', 'found', '--wait', '60', ...args];
  return { screen: openTerminal('tools/probe/main.ts', { cwd, args: all }), folder: join(cwd, 'found') };
}

/** Opens the page that the probe shows, and pays there. */
async function payOnThePage({ screen }: Sitting): Promise<void> {
  const [, address = ''] = await screen.shows(/Pay 101\.37 NGN here, then press Enter:\s+(http\S+)/);
  const answer = await fetch(`${address}/pay`, { method: 'POST', redirect: 'manual' });
  expect(answer.status).toBeLessThan(400);
}

/** Waits for a question by its key, and answers it. */
async function answer({ screen }: Sitting, key: string, text: string): Promise<void> {
  await screen.shows(new RegExp(`\\n${key.replaceAll('.', '\\.')}: [^]*?Enter if you do not know`));
  screen.type(`${text}${ENTER}`);
}

const draftIn = ({ folder }: Sitting): Dialect =>
  parseDialect(readFileSync(join(folder, 'dialect.json'), 'utf8')).dialect;
const samplesIn = ({ folder }: Sitting): string[] =>
  existsSync(folder) ? readdirSync(folder).filter((name) => /^\d\d-/.test(name)) : [];

test('somebody pays on the page, says so, and answers what only a person knows: all of it stands in the dialect file', async () => {
  const sitting = await probeAt('virtual-accounts');
  await payOnThePage(sitting);
  sitting.screen.type(ENTER);
  await answer(sitting, 'verify.amount', '/amountPaid');
  await answer(sitting, 'statuses.paid', 'OVERPAID, PARTIALLY_PAID');
  await answer(sitting, 'statuses.failed', '');
  await answer(sitting, 'statuses.expired', '');
  await answer(sitting, 'statuses.reversed', 'CHARGED BACK');
  expect(await sitting.screen.ended()).toBe(1);
  expect(sitting.screen.screen()).toMatch(/differs +verify\.amount: \/amountPaid, as you said/);
  const { verify, statuses } = draftIn(sitting);
  expect(verify.amount).toEqual(['/amountPaid']);
  expect(statuses.paid).toEqual(expect.arrayContaining(['OVERPAID', 'PARTIALLY_PAID', 'paid']));
  expect(statuses.reversed).toContain('CHARGED BACK');
  expect(statuses.failed).not.toContain('');
});

testOfAll('an answer that cannot be taken is said to be that, and asked for again', async () => {
  const sitting = await probeAt('virtual-accounts');
  await payOnThePage(sitting);
  sitting.screen.type(ENTER);
  await answer(sitting, 'verify.amount', '/amount');
  await sitting.screen.shows(/not taken: "\/amount" is none of the choices/);
  sitting.screen.type(`/amountPaid${ENTER}`);
  await answer(sitting, 'statuses.paid', 'overpaid');
  // It stands with the paid ones in the default, in other letters.
  await answer(sitting, 'statuses.failed', 'Paid');
  await sitting.screen.shows(/not taken: "Paid" stands under statuses\.paid already/);
  sitting.screen.type(`OVERPAID${ENTER}`);
  await sitting.screen.shows(/not taken: .*"overpaid" stands in two lists/);
  sitting.screen.type(`bounced${ENTER}`);
  await answer(sitting, 'statuses.expired', '');
  await answer(sitting, 'statuses.reversed', '');
  expect(await sitting.screen.ended()).toBe(1);
  const { verify, statuses } = draftIn(sitting);
  expect(verify.amount).toEqual(['/amountPaid']);
  expect(statuses.failed).toContain('bounced');
  expect(statuses.failed.join().toLowerCase()).not.toContain('paid');
});

testOfAll('who answers wrongly three times does not know: nothing is made up', async () => {
  const sitting = await probeAt('virtual-accounts');
  await payOnThePage(sitting);
  sitting.screen.type(ENTER);
  await answer(sitting, 'verify.amount', 'yes');
  for (const again of ['no', 'amount']) {
    await sitting.screen.shows(/not taken: .*\n.*Enter if you do not know/);
    sitting.screen.type(`${again}${ENTER}`);
  }
  for (const key of ['paid', 'failed', 'expired', 'reversed']) await answer(sitting, `statuses.${key}`, '');
  expect(await sitting.screen.ended()).toBe(1);
  expect(sitting.screen.screen()).toMatch(/Still needs a human:\n {2}verify\.amount: /);
  expect(draftIn(sitting).verify.amount).toEqual(parseDialect('{}').dialect.verify.amount);
});

testOfAll('who presses Enter without paying is not believed: no word is called paid', async () => {
  const sitting = await probeAt('capitals', '--wait', '2');
  await sitting.screen.shows(/then press Enter:/);
  sitting.screen.type(ENTER);
  for (const key of ['paid', 'failed', 'expired', 'reversed']) await answer(sitting, `statuses.${key}`, '');
  expect(await sitting.screen.ended()).toBe(1);
  expect(sitting.screen.screen()).toMatch(/cannot tell +statuses\.paid/);
  expect(draftIn(sitting).statuses.paid).toEqual(parseDialect('{}').dialect.statuses.paid);
});

testOfAll(
  'who leaves at the first question leaves what was seen: table, samples and dialect, and what is still open',
  async () => {
    const sitting = await probeAt('virtual-accounts');
    await payOnThePage(sitting);
    sitting.screen.type(ENTER);
    await sitting.screen.shows(/\nverify\.amount: [^]*?Enter if you do not know/);
    sitting.screen.type(CTRL_D);
    expect(await sitting.screen.ended()).toBe(1);
    expect(sitting.screen.screen()).toMatch(/Still needs a human:\n {2}verify\.amount: /);
    expect(draftIn(sitting).verify.record).toEqual(['/responseBody']);
    expect(samplesIn(sitting).length).toBeGreaterThan(12);
  },
);

const MOMENTS: [when: string, moment: RegExp, answers: number][] = [
  ['at a question', /\nverify\.amount: [^]*?Enter if you do not know/, 12],
  ['while it waits for the payment', /then press Enter:/, 6],
];

test.each(someOf(MOMENTS, 1))(
  'Ctrl-C %s ends with 2, and every answer so far is kept, without a key',
  async (_when, moment, answers) => {
    const sitting = await probeAt('virtual-accounts');
    if (answers > 6) {
      await payOnThePage(sitting);
      sitting.screen.type(ENTER);
    }
    await sitting.screen.shows(moment);
    sitting.screen.type(CTRL_C);
    expect(await sitting.screen.ended()).toBe(2);
    expect(sitting.screen.screen()).toMatch(/Stopped, nothing was concluded\.\nSamples, .*: found\n/);
    const samples = samplesIn(sitting);
    expect(samples.length).toBeGreaterThanOrEqual(answers);
    const texts = samples.map((name) => readFileSync(join(sitting.folder, name), 'utf8'));
    for (const text of texts) expect(JSON.parse(text)).toHaveProperty('answered');
    expect(texts.join('\n')).not.toMatch(/sk_test_|whsec_|probe@example/);
    expect(existsSync(join(sitting.folder, 'dialect.json'))).toBe(false);
  },
);
