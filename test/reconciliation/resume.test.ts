import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { createHash } from 'node:crypto';
import { createServer, type Server, type ServerResponse } from 'node:http';
import { writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import pg from 'pg';
import { fillBooks } from '../support/formula-books.ts';
import { createWriter, paidOf, RECORD } from '../support/formula.ts';
import { parseDialect } from '../../src/gateway/dialect/dialect.ts';
import type { ReconcileOptions } from '../../src/reconciliation/steps.ts';
import { exitCodeOf, type ReconciliationReport } from '../../src/reconciliation/report/report.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { IS_WHOLE, someOf } from '../support/extent.ts';
import { cleanUp, newFolder, startProcess, type RunningProcess } from '../support/process.ts';
import { eventually } from '../support/program.ts';
import { testOfAll } from '../support/test-of-all.ts';
import { startReconciling } from './desk.ts';

/** With RESUME_ROWS=200000 a part of `npm run bench -- reconcile-soak`: ten kills at random pages. */
const COUNT = Number(process.env.RESUME_ROWS ?? '20000');
const SIZE = 1_000;
const PAGES = COUNT / SIZE;
const STOPS =
  process.env.RESUME_ROWS === undefined
    ? [3, 7, 14, 19]
    : Array.from({ length: 10 }, () => 1 + Math.floor(Math.random() * PAGES)).sort((a, b) => a - b);
const write = createWriter(RECORD);

let books: TestDatabase;
let server: Server;
let asked: number[];
/** Answers a page instead of the usual one. */
let onPage: ((page: number, res: ServerResponse) => boolean) | null;
beforeAll(async () => {
  books = await createTestDatabase();
  await fillBooks(books.url, COUNT);
  server = createServer((req, res) => {
    const page = Number(new URL(req.url ?? '/', 'http://x').searchParams.get('page'));
    asked.push(page);
    if (onPage?.(page, res) !== true) res.end(textOf(page));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});
afterEach(cleanUp);
afterAll(async () => {
  server.closeAllConnections();
  server.close();
  await books.close();
});

function textOf(page: number): string {
  const records = write((page - 1) * SIZE + 1, page * SIZE)
    .subarray(0, -1)
    .toString();
  return `{"data":[${records}],"hasNextPage":${page < PAGES}}`;
}

const serviceUrl = (): string => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
const dialectOf = (size: number): string => JSON.stringify({ history: { paging: { style: 'page', size } } });

/** A process of its own, which can be killed. */
async function start(size = SIZE, ...args: string[]): Promise<RunningProcess> {
  asked = [];
  const cwd = await newFolder();
  const dialect = join(cwd, 'dialect.json');
  writeFileSync(dialect, dialectOf(size));
  const env = {
    DATABASE_URL: books.url,
    GATEWAY_URL: serviceUrl(),
    GATEWAY_SECRET_KEY: 'sk_test_resume',
    GATEWAY_CALLS_PER_SECOND: '0',
    GATEWAY_DIALECT: dialect,
    DEMO_SHOP: 'off',
  };
  return startProcess('local/start.ts', { cwd, env, args: ['reconcile', '--json', ...args] });
}

/** Starts a run, kills it when the service has reached a moment, and waits until its connection is gone. */
async function killAt(
  moment: (page: number, res: ServerResponse) => boolean,
  ...args: string[]
): Promise<void> {
  const reached = new Promise<void>((resolve) => {
    onPage = (page, res) => {
      if (!moment(page, res)) return false;
      resolve();
      return true;
    };
  });
  const run = await start(SIZE, ...args);
  await reached;
  // After five thousand rows a checkpoint is due; it is written while the next pages are read.
  if (Math.max(...asked) * SIZE > 6_000) await eventually(async () => (await checkpoints()).length > 0);
  await kill(run);
}

const checkpoints = (): Promise<object[]> => books.database.query('SELECT FROM history_checkpoints');

async function kill(run: RunningProcess): Promise<void> {
  await run.stop('SIGKILL');
  onPage = null;
  await eventually(
    async () => (await books.database.query(`SELECT FROM pg_locks WHERE locktype = 'advisory'`)).length === 0,
  );
}

type End = { code: number | null; report: ReconciliationReport };

async function runAsProcess(size: number, ...args: string[]): Promise<End> {
  const { stdout, stderr, code } = await (await start(size, ...args)).ended();
  if (stdout === '') throw new Error(`exit ${code ?? 'by signal'}\n${stderr}`);
  return { code, report: JSON.parse(stdout) as ReconciliationReport };
}

/** What nobody kills may run in this process, too: that is the shorter way. */
async function run(size = SIZE, options: Partial<ReconcileOptions> = {}): Promise<End> {
  const since = options.since === undefined ? [] : ['--since', options.since.toISOString()];
  if (IS_WHOLE) return runAsProcess(size, ...since, ...(options.dryRun === true ? ['--dry-run'] : []));
  asked = [];
  const { dialect } = parseDialect(dialectOf(size));
  const { database } = books;
  const url = new URL(serviceUrl());
  const { reconcile, gateway } = startReconciling({ database, url, dialect, alarm: () => Promise.resolve() });
  const report = await reconcile({ dryRun: false, ...options }).finally(() => gateway.close());
  return { code: exitCodeOf(report), report: JSON.parse(JSON.stringify(report)) as ReconciliationReport };
}

/** What two runs over the same books must agree on. */
type Lasting = Omit<ReconciliationReport, 'runId' | 'startedAt' | 'finishedAt'>;

async function runToEnd(ending: Promise<End> = run()): Promise<Lasting> {
  const { code, report } = await ending;
  const { runId, startedAt, finishedAt, ...lasting } = report;
  expect([code, lasting.incompleteReason]).toEqual([0, null]);
  // A finished run leaves nothing of the list behind.
  expect(await books.database.query('SELECT FROM history_rows_test LIMIT 1')).toEqual([]);
  expect(await checkpoints()).toEqual([]);
  expect([runId, startedAt, finishedAt]).not.toContain('');
  return lasting;
}

let undisturbed: Lasting;
test('a run that nothing disturbs reads every page once', async () => {
  undisturbed = await runToEnd(runAsProcess(SIZE));
  expect(undisturbed).toMatchObject({
    verdict: 'agreed',
    complete: true,
    payments: COUNT,
    matched: paidOf(COUNT),
    unclassified: 0,
    history: { records: COUNT, references: COUNT, pages: PAGES, unreadable: 0 },
  });
  expect(asked).toEqual(Array.from({ length: PAGES }, (_, at) => at + 1));
});

test('K15: a run killed in the middle of a page: the next one reads that page again, none before the checkpoint, and ends the same', async () => {
  await killAt((page, res) => {
    if (page !== 11) return false;
    res.write(textOf(page).slice(0, 100_000));
    return true;
  });
  expect(await runToEnd()).toEqual(undisturbed);
  // A checkpoint is set every 5,000 rows, and every two seconds; the kill may come before the second one is written.
  const [first = 0] = asked;
  expect(first).toBeGreaterThanOrEqual(6);
  expect(first).toBeLessThanOrEqual(11);
  expect(asked).toEqual(Array.from({ length: PAGES - first + 1 }, (_, at) => at + first));
});

test.each((IS_WHOLE ? [[3, 9], STOPS] : [[9]]).map((stops) => ({ stops })))(
  'K16: a run killed with pages done and their checkpoint not set, at $stops: the next one reads those again, and ends the same',
  async ({ stops }) => {
    for (const stop of stops) await killAt((page) => page >= stop);
    expect(await runToEnd()).toEqual(undisturbed);
    expect(asked[0]).toBeGreaterThan(1);
    // On a machine that took two seconds for the page before, its checkpoint is set already.
    expect(asked[0]).toBeLessThanOrEqual(stops.at(-1) ?? 0);
    expect(asked.at(-1)).toBe(PAGES);
  },
);

test('an incremental run that is killed: the next one goes on from there, and neither closes what it did not look at', async () => {
  const since = new Date('2020-01-01');
  await books.database.query(
    `INSERT INTO findings (mode, class, reference, first_run_id, last_run_id)
     VALUES ('test', 'unknown_reference', 'nobody', $1, $1)`,
    [(await run()).report.runId],
  );
  const open = (): Promise<unknown[]> =>
    books.database.query('SELECT reference FROM findings WHERE closed_at IS NULL');
  await killAt((page) => page >= 9, '--since', since.toISOString());
  expect(await open()).toHaveLength(1);
  const { report } = await run(SIZE, { since });
  expect(report).toMatchObject({ complete: true, matched: paidOf(COUNT), history: { records: COUNT } });
  expect(asked[0]).toBeGreaterThan(1);
  expect(await open()).toHaveLength(1);
  await books.database.query(`UPDATE findings SET closed_at = now(), closed_by = 'reconciliation'`);
});

// Whoever holds one of these holds the run up where it needs it: in finding, in reading the books, in writing its end.
test.each(someOf(['findings', 'payments', 'reconciliation_runs'], 1))(
  'a run killed after the list, where it waits for %s: the next one ends the same',
  async (table) => {
    const holder = new pg.Client({ connectionString: books.url });
    await holder.connect();
    onPage = (page, res) => {
      if (page !== PAGES) return false;
      void holder.query(`BEGIN; LOCK TABLE ${table} IN ACCESS EXCLUSIVE MODE`).then(() => {
        res.end(textOf(page));
      });
      return true;
    };
    const run = await start();
    const waits = `SELECT FROM pg_locks WHERE NOT granted AND relation = '${table}'::regclass`;
    await eventually(async () => (await books.database.query(waits)).length > 0);
    await run.stop('SIGKILL');
    // Only now does PostgreSQL find out that nobody is there any more.
    await holder.query('ROLLBACK');
    await holder.end();
    await kill(run);
    expect(await runToEnd()).toEqual(undisturbed);
  },
);

test('a page that does not come in three tries ends the run as incomplete, and the next run goes on from there', async () => {
  onPage = (page, res) => {
    if (page < 13) return false;
    res.writeHead(500).end();
    return true;
  };
  const { code, report } = await run();
  expect(code).toBe(2);
  expect(report).toMatchObject({ verdict: 'incomplete', history: { records: 12_000 } });
  expect(asked.filter((page) => page === 13)).toHaveLength(3);
  onPage = null;
  expect(await runToEnd()).toEqual(undisturbed);
  expect(asked[0]).toBeGreaterThan(9);
});

testOfAll(
  'a key that is refused half-way is not asked with again, and the next run goes on from there',
  async () => {
    onPage = (page, res) => {
      if (page < 13) return false;
      res.writeHead(401).end();
      return true;
    };
    expect((await run()).code).toBe(2);
    expect(asked.filter((page) => page === 13)).toHaveLength(1);
    onPage = null;
    expect(await runToEnd()).toEqual(undisturbed);
    expect(asked[0]).toBeGreaterThan(9);
  },
);

/** Runs until page 12, which does not come. */
async function runTo12(): Promise<void> {
  onPage = (page, res) => {
    if (page === 12) res.writeHead(401).end();
    return page === 12;
  };
  expect((await run()).code).toBe(2);
  onPage = null;
}

test('another question, and a dry run, begin at the first page and leave the checkpoint where it is', async () => {
  await runTo12();
  const marks = await books.database.query('SELECT state FROM history_checkpoints');
  const staged = await books.database.query('SELECT count(*) FROM history_rows_test');
  expect((await run(SIZE, { dryRun: true })).code).toBe(0);
  expect(asked[0]).toBe(1);
  expect(await books.database.query('SELECT state FROM history_checkpoints')).toEqual(marks);
  expect(await books.database.query('SELECT count(*) FROM history_rows_test')).toEqual(staged);
  expect((await run(SIZE, { since: new Date('2020-01-01') })).code).toBe(0);
  expect(asked[0]).toBe(1);
});

test('what a version staged that named rows in another way is read again', async () => {
  await runTo12();
  const question = JSON.stringify([parseDialect(dialectOf(SIZE)).dialect, null, null]);
  await books.database.query('UPDATE history_checkpoints SET question = $1', [
    createHash('sha256').update(question).digest('hex'),
  ]);
  expect((await run()).code).toBe(0);
  expect(asked[0]).toBe(1);
});

test('what a killed run had staged of a page that is not done is forgotten: a row that has left the list since is absent', async () => {
  // Pages so large that a part of one is staged before it ends.
  const size = COUNT / 2;
  const gone = size + 2_000;
  const list = (from: number, to: number): string => write(from, to).subarray(0, -1).toString();
  onPage = (page, res) => {
    if (page === 1) res.end(`{"data":[${list(1, size)}],"hasNextPage":true}`);
    else res.write(`{"data":[${list(size + 1, 2 * size - 100)}`);
    return true;
  };
  const killed = await start(size);
  const staged = (): Promise<object[]> =>
    books.database.query('SELECT FROM history_rows_test WHERE seq >= $1 LIMIT 1', [size + 2_000]);
  await eventually(async () => (await staged()).length > 0);
  await kill(killed);
  expect(await books.database.query('SELECT FROM history_checkpoints')).toHaveLength(1);

  onPage = (page, res) => {
    const rest = `${list(size + 1, gone - 1)},${list(gone + 1, 2 * size)}`;
    if (page === 2) res.end(`{"data":[${rest}],"hasNextPage":false}`);
    else res.writeHead(404).end('{}');
    return true;
  };
  const { report } = await run(size);
  onPage = null;
  expect(asked[0]).toBe(2);
  expect(report.history).toMatchObject({ records: COUNT - 1, references: COUNT - 1 });
  expect(report.matched).toBe(paidOf(COUNT) - 1);
});
