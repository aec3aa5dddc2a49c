import { afterEach, beforeEach, describe, expect, test as testOfBoth } from '@jest/globals';
import { systemClock } from '../../src/platform/clock.ts';
import { createLogger } from '../../src/platform/logger.ts';
import { openSuspense, resolveSuspense } from '../../src/cases/suspense.sql.ts';
import { listFindings, resolveFinding } from '../../src/cases/findings.ts';
import { formatReport } from '../../src/reconciliation/report/format-report.ts';
import { ReconciliationRunningError } from '../../src/reconciliation/errors.ts';
import { exitCodeOf, type ReconciliationReport } from '../../src/reconciliation/report/report.ts';
import { createReconcileSchedule } from '../../src/reconciliation/schedule.ts';
import { IS_WHOLE } from '../support/extent.ts';
import { testOfFew as test } from '../support/test-of-all.ts';
import { rowCounts } from './books.ts';
import { openDesk, type Desk } from './desk.ts';
import { send, sendPage } from './fake-service.ts';

let desk: Desk;
beforeEach(async () => {
  desk = await openDesk();
});
afterEach(() => desk.close());

const run = (): Promise<ReconciliationReport> => desk.reconcile({ dryRun: false });
const orderStatus = async (orderId: string): Promise<string | undefined> =>
  (await desk.database.query<{ status: string }>('SELECT status FROM orders WHERE id = $1', [orderId]))[0]
    ?.status;

describe('what was missed is repaired through confirmation', () => {
  test('webhook and redirect were lost: verify confirms, the order is released, and the next run finds it matched', async () => {
    const { reference, orderId } = await desk.put({}, {});
    const report = await run();
    expect(report).toMatchObject({ verdict: 'agreed', repaired: 1, verified: 1, matched: 0, findings: {} });
    expect(report.identity).toEqual([
      { currency: 'NGN', serviceTotal: '25.00', confirmed: '25.00', classes: {}, difference: '0.00' },
    ]);
    expect(exitCodeOf(report)).toBe(0);
    expect(await orderStatus(orderId)).toBe('paid');
    const evidence = await desk.database.query(
      'SELECT v.outcome, v.cause FROM releases r JOIN verifications v ON v.id = r.verification_id WHERE r.reference = $1',
      [reference],
    );
    expect(evidence).toEqual([{ outcome: 'paid', cause: 'reconciliation' }]);
    expect(await run()).toMatchObject({ verdict: 'agreed', repaired: 0, verified: 0, matched: 1 });
  });

  test('money for an expired payment pays it, late', async () => {
    const { orderId } = await desk.put({ status: 'expired', age: '9 days' }, {});
    expect(await run()).toMatchObject({ verdict: 'agreed', repaired: 1 });
    expect(await orderStatus(orderId)).toBe('paid');
    const classes = await run();
    expect(classes).toMatchObject({ verdict: 'agreed', matched: 1 });
  });

  test('history alone pays nothing: not when verify says pending, not when it cannot be asked', async () => {
    const { orderId, reference } = await desk.put({}, {});
    desk.service.verify.set(reference, { reference, status: 'PENDING' });
    expect(await run()).toMatchObject({ repaired: 0, graced: { sources_disagree: 1 } });
    expect(await orderStatus(orderId)).toBe('pending');
  });

  testOfBoth('many at once', async () => {
    const count = IS_WHOLE ? 60 : 20;
    for (let at = 0; at < count; at += 1) await desk.put({}, {});
    expect(await run()).toMatchObject({ verdict: 'agreed', repaired: count, verified: count });
  });
});

describe('a dry run', () => {
  test('sees everything and changes nothing', async () => {
    await desk.put({}, {});
    await desk.put({}, { amount: '20.00' });
    await desk.put({ isConfirmed: true }, {});
    const before = await rowCounts(desk.database);
    const report = await desk.reconcile({ dryRun: true });
    expect(report).toMatchObject({ complete: true, verdict: 'findings', verified: 0, matched: 1 });
    expect([report.findings, report.graced]).toEqual([{ underpaid: 1 }, { sources_disagree: 1 }]);
    expect(report.items.map(({ id }) => id)).toEqual([null]);
    expect(await rowCounts(desk.database)).toEqual(before);
    expect(desk.service.calls.every((call) => call.startsWith('history'))).toBe(true);
  });
});

describe('a history that is not whole', () => {
  const faults: [string, () => void][] = [
    [
      'the answer breaks off',
      () => {
        desk.service.answerHistory = (_query, res, rows) => {
          send(res, `{"data":[${rows.join(',')}`);
        };
      },
    ],
    [
      'page 2 is broken',
      () => {
        desk.service.answerHistory = (query, res, rows) => {
          if (query.get('page') === '1') send(res, `{"data":{"data":[${rows[0] ?? ''}],"hasNextPage":true}}`);
          else send(res, 'down', 500);
        };
      },
    ],
    [
      'page 1 is broken',
      () => {
        desk.service.answerHistory = (_query, res) => {
          send(res, '{}', 503);
        };
      },
    ],
    [
      'the key is refused',
      () => {
        desk.service.answerHistory = (_query, res) => {
          send(res, '{}', 401);
        };
      },
    ],
    [
      'there is no list',
      () => {
        desk.service.answerHistory = (_query, res) => {
          send(res, '{"data":null}');
        };
      },
    ],
    [
      'it counts more than it lists',
      () => {
        desk.service.answerHistory = (_query, res, rows) => {
          send(res, `{"data":[${rows.join(',')}],"total":99}`);
        };
      },
    ],
    [
      'every page is the first hundred',
      () => {
        desk.service.answerHistory = (_query, res, rows) => {
          const hundred = Array.from(
            { length: 100 },
            (_, at) => rows[at] ?? `{"reference":"x${at}","status":"FAILED"}`,
          );
          send(res, `[${hundred.join(',')}]`);
        };
      },
    ],
    [
      'nothing in it can be read',
      () => {
        desk.service.answerHistory = (_query, res, rows) => {
          send(res, `[${rows.map(() => '{"ref":1}').join(',')}]`);
        };
      },
    ],
  ];

  test.each(faults)('gives no verdict on what is missing: %s', async (_name, breakIt) => {
    await desk.put({ isConfirmed: true }, {});
    await desk.put({ isConfirmed: true }, null);
    breakIt();
    const report = await run();
    expect(report).toMatchObject({ complete: false, verdict: 'incomplete' });
    expect(report.incompleteReason).not.toBeNull();
    expect(report.findings.absent_from_history).toBeUndefined();
    expect(report.findings.paid_unconfirmed).toBeUndefined();
    expect(report.findings.history_truncated).toBeGreaterThan(0);
    expect(exitCodeOf(report)).toBe(2);
    expect(formatReport(report)).toContain('NOT CHECKED');
    expect(report.identity.map(({ difference }) => Number(difference))).toEqual(report.identity.map(() => 0));
  });

  test('still repairs what it did list', async () => {
    const { orderId } = await desk.put({}, {});
    desk.service.answerHistory = (_query, res, rows) => {
      send(res, `{"data":[${rows.join(',')},`);
    };
    expect(await run()).toMatchObject({ verdict: 'incomplete', repaired: 1 });
    expect(await orderStatus(orderId)).toBe('paid');
  });

  test('closes no finding', async () => {
    await desk.put({}, { amount: '20.00' });
    await run();
    desk.service.answerHistory = (_query, res) => {
      send(res, '{}', 503);
    };
    await run();
    expect(await listFindings(desk.database, 'test')).toHaveLength(1);
  });
});

describe('findings', () => {
  const closedBy = async (): Promise<(string | null)[]> =>
    (
      await desk.database.query<{ closed_by: string | null }>('SELECT closed_by FROM findings ORDER BY id')
    ).map(({ closed_by }) => closed_by);

  test('live on while they last, close by themselves, and come back as new ones', async () => {
    const { reference } = await desk.put({ isConfirmed: true }, { status: 'PENDING' });
    const first = await run();
    const second = await run();
    expect(second.items).toEqual(first.items);
    desk.service.history[0] = { reference };
    expect(await run()).toMatchObject({ verdict: 'agreed', items: [] });
    expect(await closedBy()).toEqual(['reconciliation']);
    desk.service.history[0] = { reference, status: 'PENDING' };
    const third = await run();
    expect(third.items[0]?.id).not.toBe(first.items[0]?.id);
    expect(await closedBy()).toEqual(['reconciliation', null]);
  });

  test('that a person has resolved are not raised again, unless the money changes', async () => {
    const { reference } = await desk.put({}, { amount: '20.00' });
    await run();
    const [finding] = await listFindings(desk.database, 'test');
    expect(finding).toMatchObject({ class: 'underpaid', expected: '25.00', actual: '20.00', age: '<1d' });
    // Its money is in suspense: the decision about that closes both.
    expect(await resolveFinding(desk.database, 'test', finding?.id ?? 0n, 'Ada', 'refunded')).toBe(false);
    const [item] = await openSuspense(desk.database, 'test');
    const how = { by: 'Ada', note: 'refunded', decision: 'refund', refundNote: 'RF-1' } as const;
    expect(await resolveSuspense(desk.database, 'test', item?.id ?? 0n, how)).toBe(true);
    expect(await resolveSuspense(desk.database, 'test', item?.id ?? 0n, how)).toBe(false);
    expect(await run()).toMatchObject({ verdict: 'agreed', items: [] });
    desk.service.history[0] = { reference, amount: '21.00' };
    expect(await run()).toMatchObject({ verdict: 'findings', findings: { underpaid: 1 } });
    expect(await closedBy()).toEqual(['Ada', null]);
  });

  test('need a name and a note to be resolved', async () => {
    await expect(resolveFinding(desk.database, 'test', 1n, ' ', 'why')).rejects.toThrow(RangeError);
    await expect(resolveFinding(desk.database, 'test', 1n, 'Ada', '')).rejects.toThrow(RangeError);
    await expect(resolveFinding(desk.database, 'test', 1n, 'reconciliation', 'why')).rejects.toThrow(
      RangeError,
    );
  });

  test('outside of a window stay open', async () => {
    await desk.put({ isConfirmed: true, age: '40 days' }, null);
    await run();
    const report = await desk.reconcile({ dryRun: false, since: new Date(Date.now() - 3_600_000) });
    expect(report).toMatchObject({ verdict: 'agreed', payments: 0 });
    expect(await listFindings(desk.database, 'test')).toHaveLength(1);
  });

  test('have ages in buckets', async () => {
    await desk.put({}, { amount: '20.00' });
    await run();
    for (const [age, bucket] of [
      ['0 days', '<1d'],
      ['1 day', '1-7d'],
      ['7 days', '7-30d'],
      ['31 days', '>30d'],
    ]) {
      await desk.database.query(`UPDATE findings SET first_seen_at = now() - $1::interval`, [age]);
      expect((await run()).items[0]?.age).toBe(bucket);
    }
  });
});

test('a window compares what is listed from outside of it, near and far, each with its release', async () => {
  const times = [
    { age: '1 hour', confirmed: '30 minutes' },
    { age: '1 day', confirmed: '1 day' },
    { age: '60 days', confirmed: '60 days' },
    // Its money came late, and the clock of the database was set back.
    { age: '60 days', confirmed: '1 hour' },
    { age: '1 day', confirmed: '60 days' },
  ];
  for (const time of times) {
    await desk.put({ isConfirmed: true, ...time }, {});
    await desk.put({ isConfirmed: true, ...time }, { amount: '25.01' });
  }
  await desk.put({ isConfirmed: true, age: '1 day' }, null);
  const report = await desk.reconcile({ dryRun: false, since: new Date(Date.now() - 7_200_000) });
  expect(report).toMatchObject({ payments: 10, matched: 5, unclassified: 0, findings: { charged_again: 5 } });
  expect(report.identity).toMatchObject([{ confirmed: '250.00', difference: '0.00' }]);
});

describe('a window misses nothing at its edges, and at those of what its list reaches, where it is shown by', () => {
  const [MINUTE, HOUR, DAY] = [60_000, 3_600_000, 86_400_000];
  const BY_TIME = { sinceParam: 'from', untilParam: 'to' };
  const PAGINGS: [string, object][] = [
    ['a filter by time', BY_TIME],
    ['a filter by date', { ...BY_TIME, windowFormat: 'date' }],
    ['the newest first', { newestFirstBy: '/at' }],
    ['nothing', {}],
  ];

  /** A paid payment, written and released at a time to the millisecond. */
  async function putAt(at: number, releasedAt: number, transaction: object | null): Promise<string> {
    const { reference } = await desk.put({ isConfirmed: true }, transaction);
    await desk.database.transaction(async (tx) => {
      await tx.query('SET LOCAL session_replication_role = replica');
      await tx.query('UPDATE payments SET created_at = $2 WHERE reference = $1', [reference, new Date(at)]);
      const released = [reference, new Date(releasedAt)];
      await tx.query('UPDATE releases SET released_at = $2 WHERE reference = $1', released);
    });
    return reference;
  }

  test.each(PAGINGS)('%s', async (_name, paging) => {
    const now = Date.now();
    const [since, until] = [now - 40 * DAY, now - 20 * DAY];
    // The list lags: it shows what was made before it as well. A clock is behind: it shows what is younger.
    const before = [0, 15 * MINUTE, DAY, 2 * DAY, 9 * DAY].map((width) => since - width);
    const after = [0, 15 * MINUTE, 8 * DAY, 9 * DAY, 10 * DAY, 18 * DAY].map((width) => until + width);
    const edges = [...before, ...after].flatMap((edge) => [edge - 1, edge]);
    for (const at of edges) {
      await putAt(at, at, {});
      await putAt(at, at + HOUR, { amount: '25.01' });
      await putAt(at, at + 8 * DAY - HOUR, { amount: '25.01' });
    }
    const missing = [await putAt(since, since, null), await putAt(until - 1, until, null)];
    for (const at of [since - 1, until]) await putAt(at, at, null);
    const reconcile = desk.speaking({ history: { paging: { style: 'page', ...paging } } });
    const report = await reconcile({ dryRun: false, since: new Date(since), until: new Date(until) });
    expect(report).toMatchObject({
      ...{ payments: 3 * edges.length + 2, matched: edges.length, unclassified: 0 },
      findings: { charged_again: 2 * edges.length, absent_from_history: 2 },
    });
    const absent = report.items.filter((item) => item.class === 'absent_from_history');
    expect(absent.map(({ reference }) => reference).sort()).toEqual(missing.sort());
    expect(report.identity).toMatchObject([{ difference: '0.00' }]);
  });
});

describe('runs', () => {
  test('never overlap: the second one says so and changes nothing', async () => {
    let letGo: () => void = () => undefined;
    const asked = new Promise<void>((resolve) => {
      desk.service.answerHistory = (query, res, rows) => {
        letGo = () => {
          sendPage(query, res, rows);
        };
        resolve();
      };
    });
    const first = run();
    await asked;
    await expect(run()).rejects.toThrow(ReconciliationRunningError);
    letGo();
    expect(await first).toMatchObject({ verdict: 'agreed' });
    desk.service.answerHistory = null;
    expect(await run()).toMatchObject({ verdict: 'agreed' });
  });

  test('keep no transaction open while the service is asked', async () => {
    let states: unknown[] = [];
    desk.service.answerHistory = (query, res, rows) => {
      void desk.database
        .query(
          `SELECT state FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()
             AND backend_type = 'client backend'`,
        )
        .then((found) => {
          states = found.map((row) => (row as { state: string }).state);
          sendPage(query, res, rows);
        });
    };
    await run();
    expect(states).not.toEqual([]);
    expect(new Set(states)).toEqual(new Set(['idle']));
  });

  test('are remembered with their verdict', async () => {
    const { runId } = await run();
    const rows = await desk.database.query(
      'SELECT id, mode, complete, verdict, finished_at IS NULL AS open FROM reconciliation_runs',
    );
    expect(rows).toEqual([{ id: runId, mode: 'test', complete: true, verdict: 'agreed', open: false }]);
  });

  test('that lost their process are ended by the next one', async () => {
    await desk.database.query(`INSERT INTO reconciliation_runs (id, mode) VALUES ('run_killed', 'test')`);
    await run();
    const [killed] = await desk.database.query(
      `SELECT complete, verdict, finished_at IS NULL AS open FROM reconciliation_runs WHERE id = 'run_killed'`,
    );
    expect(killed).toEqual({ complete: false, verdict: 'incomplete', open: false });
  });

  test('end when they are told to, as incomplete ones', async () => {
    const stop = new AbortController();
    desk.service.answerHistory = () => {
      stop.abort();
    };
    expect(await desk.reconcile({ dryRun: false, signal: stop.signal })).toMatchObject({
      verdict: 'incomplete',
    });
  });

  testOfBoth('one huge list and pages of a hundred give the same report', async () => {
    for (let count = 0; count < 30; count += 1) await desk.put({ isConfirmed: true }, {});
    const count = IS_WHOLE ? 12_000 : 2_000;
    for (let at = 0; at < count; at += 1)
      desk.service.history.push({ reference: `other${at}`, status: 'FAILED' });
    const paged = await desk.reconcile({ dryRun: true });
    desk.service.answerHistory = (_query, res, rows) => {
      send(res, `[${rows.join(',\n ')}]`);
    };
    const whole = await desk.reconcile({ dryRun: true });
    const lasting = ({ complete, verdict, identity, findings, matched }: ReconciliationReport) => ({
      complete,
      verdict,
      identity,
      findings,
      matched,
    });
    expect(lasting(whole)).toEqual(lasting(paged));
    expect(paged).toMatchObject({
      complete: true,
      matched: 30,
      history: { records: count + 30, references: count + 30, pages: count / 100 + 1 },
    });
    expect(whole.history).toMatchObject({ records: count + 30, pages: 2 });
  });

  test('go on by schedule, one after the other, also after one that failed', async () => {
    let runs = 0;
    let inHand = 0;
    const schedule = createReconcileSchedule({
      everyMin: 0.0001,
      logger: createLogger('silent'),
      database: desk.database,
      gateway: desk.gateway,
      clock: systemClock,
      alarm: () => Promise.resolve(),
      reconcile: async () => {
        expect((inHand += 1)).toBe(1);
        await new Promise((resolve) => setTimeout(resolve, 5));
        inHand -= 1;
        runs += 1;
        throw new Error('the database is away');
      },
    });
    schedule.start();
    while (runs < 3) await new Promise((resolve) => setTimeout(resolve, 5));
    await schedule.stop();
    const atStop = runs;
    await new Promise((resolve) => setTimeout(resolve, 30));
    expect(runs).toBe(atStop);
  });
});

test('a dialect whose records lack a currency is read where all payments share one', async () => {
  const reconcile = desk.speaking({ verify: { currencyMayBeAbsent: true } });
  const { reference } = await desk.put({ isConfirmed: true }, null);
  desk.service.history.push(`{"reference":"${reference}","status":"paid","amount":25}`);
  expect(await reconcile({ dryRun: false })).toMatchObject({ verdict: 'agreed', matched: 1 });
  await desk.put({ isConfirmed: true, currency: 'KWD' }, {});
  expect(await reconcile({ dryRun: true })).toMatchObject({ findings: { unreadable: 1 } });
});

test('the report for people says what to do, and nothing in it steers the terminal', async () => {
  desk.service.history.push({ reference: 'evil\u001b[2J\nVERDICT: agreed', amount: '7.50' });
  await desk.put({}, { amount: '20.00' });
  const text = formatReport(await run());
  expect(text).toContain('NOT AGREED. 2 payments need a decision.');
  // Below its own row, and nothing wider than a terminal.
  const words = text.replace(/\s+/g, ' ');
  expect(words).toContain('Paid NGN 20.00 of NGN 25.00: NGN 5.00 is missing. Next: Accept it');
  for (const line of text.split('\n')) expect(line.length).toBeLessThanOrEqual(80);
  expect(words).toContain(
    '2 payments from the service (1 page, all readable). 1 payment of ours: 0 agree, 1 not paid',
  );
  expect(text).not.toContain('\u001b');
  expect(text).not.toMatch(/^VERDICT/m);
  expect(text).toMatch(/NGN +paid at the service +27\.50/);
  const painted = formatReport(await run(), (colour, verdict) => `<${colour}>${verdict}</>`);
  expect(painted).toMatch(/^<red>NOT AGREED<\/>\. 2 payments need/);
  expect(text).toMatch(/^\s+\+ paid too little +20\.00$/m);
});
