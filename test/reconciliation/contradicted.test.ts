import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { newId } from '../../src/platform/ids.ts';
import { createLogger } from '../../src/platform/logger.ts';
import type { ReconciliationReport } from '../../src/reconciliation/report/report.ts';
import { loadPayment } from '../../src/payments/confirm.sql.ts';
import { createConfirm } from '../../src/payments/confirm.ts';
import { openDesk, type Desk } from './desk.ts';
import type { FakeTransaction } from './fake-service.ts';
import { IS_WHOLE } from '../support/extent.ts';
import { asReference } from '../support/ids.ts';

let desk: Desk;
beforeEach(async () => {
  desk = await openDesk();
});
afterEach(() => desk.close());

const run = (): Promise<ReconciliationReport> => desk.reconcile({ dryRun: false });

/** Verify is asked outside of a run, as it is after a webhook, and its answer is recorded. */
async function look(reference: string): Promise<void> {
  const payment = await loadPayment(desk.database, asReference(reference), 'test');
  if (payment === null) throw new Error(`there is no payment ${reference}`);
  const confirm = createConfirm({
    database: desk.database,
    gateway: desk.gateway,
    planRelease: () => ({ id: `rel_${newId()}`, delivery: 'unneeded' }),
    onReleased: () => undefined,
    logger: createLogger('silent'),
  });
  await confirm(payment, 'webhook');
}

type Answer = Partial<FakeTransaction> | string | null;
const say = (reference: string, answer: Answer): void => {
  const isWhole = answer === null || typeof answer === 'string';
  desk.service.verify.set(reference, isWhole ? answer : { reference, ...answer });
};
const asked = (reference: string): number =>
  desk.service.calls.filter((call) => call === `verify/${reference}`).length;
const closed = async (): Promise<object[]> =>
  desk.database.query(`SELECT class, closed_by FROM findings WHERE closed_at IS NOT NULL ORDER BY id`);

const odd: [string, (reference: string) => Answer][] = [
  ['less money', () => ({ amount: '20.00' })],
  ['more money', () => ({ amount: '2500.00' })],
  ['another currency', () => ({ currency: 'USD' })],
  ['a word that nobody explained', () => ({ status: 'chargeback' })],
  ['pending', () => ({ status: 'PENDING' })],
  ['failed', () => ({ status: 'FAILED' })],
  ['expired', () => ({ status: 'EXPIRED' })],
  ['an amount that cannot be read', () => ({ amount: '"25,00"' })],
  ['no amount', () => ({ amount: 'null' })],
  [
    'the other mode',
    (r) => `{"reference":"${r}","status":"paid","amount":25,"currency":"NGN","mode":"live"}`,
  ],
  ["a neighbour's reference", () => ({ reference: 'somebody-else' })],
  ['not found', () => null],
  ['nothing that can be read', () => 'oops'],
];

/** Each answer in books of its own, or all of them in the same. */
const together = IS_WHOLE ? [...odd.map((one) => [one]), odd] : [odd];
const asCases = together.map((answers) => [answers.map(([name]) => name).join(', '), answers] as const);

describe('G1: after the release verify says anything but exactly paid', () => {
  test.each(asCases)(
    '%s, while the list shows the paid row: a finding at once, until verify says paid',
    async (_names, answers) => {
      const count = answers.length;
      const said = new Map<string, string>();
      for (const [name] of answers) said.set((await desk.put({ isConfirmed: true }, {})).reference, name);
      await desk.put({ isConfirmed: true }, {});
      expect(await run()).toMatchObject({ verdict: 'agreed', verified: 0 });
      for (const [at, reference] of [...said.keys()].entries()) {
        say(reference, answers[at]?.[1](reference) ?? null);
        await look(reference);
      }
      for (let again = 1; again <= 2; again += 1) {
        const report = await run();
        expect(report).toMatchObject({
          verdict: 'findings',
          findings: { paid_contradicted: count },
          graced: {},
          matched: 1,
          unclassified: 0,
        });
        const found = report.items.map(({ reference }) => said.get(reference));
        expect(found.sort()).toEqual([...said.values()].sort());
        expect(report.identity.map(({ difference }) => Number(difference))).toEqual([0]);
        for (const [reference, name] of said) expect([name, asked(reference)]).toEqual([name, 1 + again]);
      }
      // It was looked at long ago, and a person may look at a run that could not ask: it stays.
      await desk.database.query(`UPDATE findings SET first_seen_at = now() - interval '3 days'`);
      const findings = { paid_contradicted: count };
      expect(await desk.reconcile({ dryRun: true })).toMatchObject({ findings });
      for (const reference of said.keys()) say(reference, {});
      expect(await run()).toMatchObject({ verdict: 'agreed', matched: count + 1, verified: count });
      const ended = { class: 'paid_contradicted', closed_by: 'reconciliation' };
      expect(await closed()).toEqual(Array(count).fill(ended));
      expect(await run()).toMatchObject({ verdict: 'agreed', matched: count + 1, verified: 0 });
    },
  );

  test.each([
    ['does not list it', null],
    ['calls it pending', { status: 'PENDING' }],
    ['calls it failed', { status: 'FAILED' }],
    ['cannot be read there', { amount: '"x"' }],
    ['shows other money', { amount: '20.00' }],
  ])('while the list %s: a finding at once, whatever the answer', async (_name, listed) => {
    for (const [, answer] of odd) {
      const { reference } = await desk.put({ isConfirmed: true }, listed);
      say(reference, answer(reference));
      await look(reference);
    }
    await desk.put({ isConfirmed: true }, {});
    const report = await run();
    expect(report).toMatchObject({ verdict: 'findings', graced: {}, unclassified: 0 });
    expect(report.items).toHaveLength(odd.length);
    expect(report.identity.map(({ difference }) => Number(difference))).toEqual([0]);
  });

  test('and the list breaks off: a finding all the same', async () => {
    const { reference } = await desk.put({ isConfirmed: true }, null);
    say(reference, { status: 'chargeback' });
    await look(reference);
    desk.service.answerHistory = (_query, res) => {
      res.writeHead(200, { 'content-type': 'application/json' }).end('{"data":[');
    };
    const report = await run();
    expect(report).toMatchObject({ verdict: 'incomplete', findings: { paid_unconfirmed: 1 } });
  });

  test('an answer that mended itself is asked about once more and is nothing', async () => {
    const { reference } = await desk.put({ isConfirmed: true }, {});
    say(reference, 'a page of a proxy');
    await look(reference);
    say(reference, {});
    expect(await run()).toMatchObject({ verdict: 'agreed', verified: 1, findings: {} });
    expect(await run()).toMatchObject({ verdict: 'agreed', verified: 0 });
  });

  test('only the latest answer counts', async () => {
    const { reference } = await desk.put({ isConfirmed: true }, {});
    say(reference, { status: 'FAILED' });
    await look(reference);
    say(reference, {});
    await look(reference);
    expect(await run()).toMatchObject({ verdict: 'agreed', findings: {} });
  });
});

describe('G2: money that went back is there again only when verify says so', () => {
  const reversed = async (listed: { status: string } | object): Promise<string> => {
    const { reference } = await desk.put({ isConfirmed: true }, listed);
    say(reference, { status: 'REVERSED' });
    await look(reference);
    return reference;
  };
  const listAsPaid = (): void => {
    desk.service.history = desk.service.history.map((row) => ({
      reference: (row as FakeTransaction).reference,
    }));
  };

  test.each(asCases)('not when it says %s', async (_names, answers) => {
    const count = 2 * answers.length;
    const references: string[] = [];
    for (const listed of answers.flatMap(() => [{ status: 'REVERSED' }, {}]))
      references.push(await reversed(listed));
    expect(await run()).toMatchObject({ findings: { reversed: count } });
    listAsPaid();
    for (const [at, reference] of references.entries())
      say(reference, answers[Math.floor(at / 2)]?.[1](reference) ?? null);
    expect(await run()).toMatchObject({ findings: { reversed: count }, verdict: 'findings' });
    expect(await closed()).toEqual([]);
    for (const reference of references) say(reference, {});
    expect(await run()).toMatchObject({ verdict: 'agreed', matched: count });
    expect(await closed()).toHaveLength(count);
  });

  test('not when nobody could be asked', async () => {
    const reference = await reversed({ status: 'REVERSED' });
    listAsPaid();
    say(reference, {});
    expect(await desk.reconcile({ dryRun: true })).toMatchObject({ findings: { reversed: 1 } });
    await desk.database.query(
      `UPDATE payments SET leased_until = now() + interval '1 day', next_check_at = now()`,
    );
    expect(await closed()).toEqual([]);
  });

  test('not when verify says so and the list still shows the money going back', async () => {
    const reference = await reversed({ status: 'REVERSED' });
    await run();
    say(reference, {});
    expect(await run()).toMatchObject({ findings: { reversed: 1 } });
    listAsPaid();
    expect(await run()).toMatchObject({ verdict: 'agreed' });
  });

  test('nor does any other open finding of a confirmed payment end without being asked about', async () => {
    const { reference } = await desk.put({ isConfirmed: true }, { amount: '20.00' });
    say(reference, { amount: '20.00' });
    await run();
    listAsPaid();
    say(reference, { status: 'PENDING' });
    expect(await run()).toMatchObject({ findings: { paid_contradicted: 1 } });
    say(reference, {});
    expect(await run()).toMatchObject({ verdict: 'agreed' });
  });
});
