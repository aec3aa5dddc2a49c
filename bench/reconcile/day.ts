import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { localServices } from '../../local/backing-services.ts';
import { openProgram } from '../../src/bootstrap/open-program.ts';
import { loadConfig } from '../../src/config.ts';
import type { Program } from '../../src/program.ts';
import type { ReconciliationReport } from '../../src/reconciliation/report/report.ts';
import { lastRuns } from '../../src/reconciliation/report/runs.sql.ts';
import { planRun, type PlannedWindow } from '../../src/reconciliation/schedule.ts';
import { median, type Row } from '../row.ts';
import { cpuMsOf } from '../shop/cpu.ts';
import { newDatabase, withPostgres } from './bench.ts';
import { fillBooks } from '../../test/support/formula-books.ts';
import { startService } from './command.ts';

const DAY_MS = 24 * 3_600_000;
const RUNS = 96;
const PROMISED = { day: 2, window: 1.5 };
/** How the service can list a part, and its dialect. */
const PAGINGS = {
  'a filter by time': { sinceParam: 'from', untilParam: 'to' },
  'the newest first': { newestFirstBy: '/createdAt' },
};

/** `processor`: seconds of this process and of the database's; other work of the machine shows less in them. */
type Cost = { calls: number; seconds: number; processor: number };
const UNITS = ['calls', 'seconds', 'processor'] as const;
const WORDS = { calls: 'calls', seconds: 'seconds', processor: 'seconds of processor' };

/**
 * What a day of scheduled runs costs beside one over everything, and a run over a window beside its share of one. The
 * runs are planned as the schedule plans them and made in one process, as a worker makes them.
 * @param argv `--count`: transactions, a million unless given, `--days`: in so many days, a year unless given
 */
export async function benchDay(argv: string[]): Promise<Row[]> {
  const { values } = parseArgs({
    args: argv,
    options: { count: { type: 'string', default: '1000000' }, days: { type: 'string', default: '365' } },
  });
  const [count, days] = [Number(values.count), Number(values.days)];
  const spread = { newestMs: Date.now() - 60_000, stepMs: Math.floor((days * DAY_MS) / count) };
  return withPostgres(async (url, folder) => {
    const pidFile = await readFile(join(folder, 'data/postgres/postmaster.pid'), 'utf8');
    const databasePid = Number(pidFile.split('\n')[0]);
    process.stderr.write(`${count} payments of ${days} days are written\n`);
    const databaseUrl = await newDatabase(url, count);
    await fillBooks(databaseUrl, count, spread);
    const service = await startService('newest', count, spread);
    try {
      const rows: Row[] = [];
      for (const [name, paging] of Object.entries(PAGINGS)) {
        const file = join(folder, 'dialect.json');
        await writeFile(file, JSON.stringify({ history: { paging: { style: 'page', ...paging } } }));
        const config = loadConfig({
          ...{ DATABASE_URL: databaseUrl, GATEWAY_URL: service.url, GATEWAY_SECRET_KEY: 'sk_test_bench' },
          ...{ GATEWAY_DIALECT: file, GATEWAY_CALLS_PER_SECOND: '0', DEMO_SHOP: 'off' },
        });
        const options = { purpose: 'npm run bench', logLevel: 'error', logTo: process.stderr } as const;
        const { program, close } = await openProgram(config, localServices(folder), options);
        try {
          rows.push(...(await measureDay({ ...program, databasePid }, name)));
          if ('sinceParam' in paging)
            rows.push(...(await measureWindows({ ...program, databasePid }, spread.newestMs, days)));
        } finally {
          await close();
        }
      }
      return rows;
    } finally {
      service.stop();
    }
  });
}

type Measured = Pick<Program, 'database' | 'gateway' | 'reconcile'> & { databasePid: number };

async function measureDay(program: Measured, name: string): Promise<Row[]> {
  const { database, gateway } = program;
  await database.query('DELETE FROM reconciliation_runs');
  let whole: Cost | null = null;
  const others: Cost[] = [];
  for (let run = 0; run < RUNS; run += 1) {
    const last = await lastRuns(database, gateway.mode);
    // The night is when the first run was.
    const window = planRun(gateway.dialect.history, { ...last, now: last.fullCompletedAt ?? last.now });
    if ((window.since === undefined) !== (run === 0))
      throw new Error(`run ${run} was not planned as it must be`);
    const cost = await costOf(program, window);
    if (whole === null) whole = cost;
    else others.push(cost);
    await database.query(
      `UPDATE reconciliation_runs SET started_at = started_at - interval '15 min', since = since - interval '15 min',
         finished_at = finished_at - interval '15 min'`,
    );
  }
  if (whole === null) throw new Error('no run');
  const [one, all] = [whole, [whole, ...others]];
  process.stderr.write(
    `${name}: the run over everything ${words(one)}, each of the others ${words(middle(others))}\n`,
  );
  return UNITS.map((unit) =>
    rowOf(`a day of ${RUNS} runs, ${WORDS[unit]}, ${name}`, sum(all, unit), one[unit], PROMISED.day),
  );
}

/** The middle half and the middle tenth, by turns with runs over everything. */
async function measureWindows(program: Measured, newestMs: number, days: number): Promise<Row[]> {
  const wholes: Cost[] = [];
  const shares = [0.5, 0.1].map((share) => ({ share, costs: [] as Cost[] }));
  for (let round = 0; round < 3; round += 1) {
    wholes.push(await costOf(program, {}));
    for (const { share, costs } of shares) {
      const [from, to] = [-1, 1].map((side) => newestMs - (days * DAY_MS * (1 - side * share)) / 2);
      costs.push(await costOf(program, { since: new Date(from ?? 0), until: new Date(to ?? 0) }));
    }
  }
  const whole = middle(wholes);
  return shares.flatMap(({ share, costs }) =>
    UNITS.map((unit) =>
      rowOf(
        `a window of ${share * 100} %, ${WORDS[unit]}`,
        middle(costs)[unit],
        whole[unit] * share,
        PROMISED.window,
      ),
    ),
  );
}

async function costOf(
  { reconcile, databasePid }: Measured,
  window: PlannedWindow & { until?: Date },
): Promise<Cost> {
  const databaseMs = cpuMsOf(databasePid);
  const [startedMs, ours] = [performance.now(), process.cpuUsage()];
  const report = await reconcile({ ...window, dryRun: false, scheduledEveryMs: 0 });
  const [endedMs, { user, system }] = [performance.now(), process.cpuUsage(ours)];
  refuseWrong(report);
  return {
    calls: report.history.pages + report.verified,
    seconds: (endedMs - startedMs) / 1_000,
    processor: (user + system) / 1e6 + (cpuMsOf(databasePid) - databaseMs) / 1e3,
  };
}

/** A fast answer that is wrong is not measured. */
function refuseWrong(report: ReconciliationReport): void {
  if (report.verdict === 'agreed' && report.matched > 0 && report.verified === 0) return;
  throw new Error(`the reconciliation is wrong: ${JSON.stringify({ ...report, items: [] })}`);
}

function rowOf(what: string, ours: number, whole: number, promised: number): Row {
  const ratio = ours / whole;
  if (ratio > promised) process.exitCode = 1;
  const figure = (value: number): string => (Number.isInteger(value) ? String(value) : value.toFixed(2));
  return {
    what: `${what}, to ${figure(whole)}`,
    ours: figure(ours),
    ratio: ratio.toFixed(2),
    wanted: `at most ${promised}`,
  };
}

function sum(costs: readonly Cost[], unit: keyof Cost): number {
  return costs.reduce((all, cost) => all + cost[unit], 0);
}

function middle(costs: readonly Cost[]): Cost {
  return {
    calls: median(costs.map(({ calls }) => calls)),
    seconds: median(costs.map(({ seconds }) => seconds)),
    processor: median(costs.map(({ processor }) => processor)),
  };
}

function words({ calls, seconds, processor }: Cost): string {
  return `${calls} calls, ${seconds.toFixed(3)} s and ${processor.toFixed(3)} s of processor`;
}
