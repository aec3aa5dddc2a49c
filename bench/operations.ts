import { undeliveredReleases } from '../src/fulfilment/releases.sql.ts';
import { explain } from '../src/reporting/explain.ts';
import { heldDays, confirmedDays, sumConfirmedHours } from '../src/reporting/money-by-day.sql.ts';
import * as glance from '../src/reporting/shop-state.sql.ts';
import { latestCaseOf, recordsOf } from '../src/admin/cases/case-records.sql.ts';
import { countCases, openCaseCounts, readCases } from '../src/admin/cases/cases.sql.ts';
import * as metrics from '../src/observability/metrics.sql.ts';
import { findOrders, evidenceOf } from '../src/admin/orders/find-orders.sql.ts';
import { readSearch } from '../src/admin/orders/search.ts';
import { latestReleases, releaseOf } from '../src/admin/releases/releases.sql.ts';
import { MAX_ITEMS } from '../src/admin/runs/run-parts.tsx';
import { itemsOfRun, latestRuns, runAfter, runById } from '../src/admin/runs/runs.sql.ts';
import { orderIdOf } from '../src/reporting/timeline.sql.ts';
import { latestWebhooks, webhookById } from '../src/admin/webhooks/webhooks.sql.ts';
import { refusedByMinute, refusedLately } from '../src/webhooks/refused-webhooks.sql.ts';
import { matchOf } from '../src/reporting/order-search.sql.ts';
import { openDatabase, type Database, type Queryable } from '../src/platform/database/database.ts';
import type { OrderId, Reference, RunId } from '../src/platform/ids.ts';
import { createLogger } from '../src/platform/logger.ts';
import { Secret } from '../src/platform/secret.ts';
import { changesBetween } from '../src/reconciliation/report/runs.sql.ts';
import { withFilledShop } from './filled-shop.ts';
import { idOf } from './operations-shop.ts';
import type { Row } from './row.ts';

const PROMISE_MS = 50;

type Measured = { page: string; ms: number; text: string; plan: string };

/**
 * How long does PostgreSQL take for each query of each page of operations, in a shop with a million orders? Each query
 * runs twice and then under EXPLAIN (ANALYZE), whose time counts: the cache is warm, as it is for whoever opens a second
 * page. Ends with 1 when a query takes longer than the promise.
 * @param argv how many orders, a million unless given; `--plans`: prints all plans
 */
export async function benchOperations(argv: string[]): Promise<Row[]> {
  const orders = Number(argv.find((word) => /^\d+$/.test(word)) ?? '1000000');
  const rows: Row[] = [];
  await withFilledShop(orders, async (url) => {
    const database = openDatabase(new Secret(url), createLogger('warn'));
    try {
      await timed('summed the confirmed hours, a day at a time', () => sumConfirmedHours(database, 'test'));
      const measured = await measureAll(database, orders);
      report(measured, argv.includes('--plans'));
      const late = measured.filter(({ ms }) => ms > PROMISE_MS).length;
      if (late > 0) process.exitCode = 1;
      const slowest = Math.max(...measured.map(({ ms }) => ms));
      rows.push({
        what: `slowest of ${measured.length} queries of operations, ${orders} orders`,
        ours: `${slowest.toFixed(1)} ms`,
        wanted: `at most ${PROMISE_MS} ms`,
      });
    } finally {
      await database.close();
    }
  });
  return rows;
}

async function timed(what: string, work: () => Promise<void>): Promise<void> {
  const startedMs = performance.now();
  await work();
  process.stdout.write(`${what} in ${((performance.now() - startedMs) / 1_000).toFixed(1)} s\n`);
}

/** Every query that the page makes, as the page makes it. */
function pages(db: Queryable, all: Database, orders: number): Record<string, () => Promise<unknown>> {
  const mode = 'test';
  const search = (query: Record<string, string>) => async () => {
    const wanted = readSearch(query);
    const match = wanted.words === null ? null : await matchOf(db, mode, wanted.words);
    await findOrders(db, mode, wanted, match);
  };
  const middle = idOf('o', Math.floor(orders / 2)) as OrderId;
  const runId = 'run_100' as RunId;
  return {
    'today: confirmed': () => confirmedDays(db, mode, 1),
    'today: waiting': () => glance.openMoney(db, mode, true),
    'today: suspense': () => glance.openSuspenseSums(db, mode),
    'today: to do': () => openCaseCounts(db, mode),
    'today: last run': () => glance.lastRun(db, mode),
    'today: silence': () => glance.webhookSilence(db, mode),
    'today: releases': () => glance.undeliveredCounts(db, mode),
    'orders: newest': search({}),
    'orders: from the middle on': search({ before: middle }),
    'orders: of one e-mail address': search({ q: 'Buyer77@example.com' }),
    'orders: of a part of an address': search({ q: 'buyer77' }),
    'orders: by goods': search({ q: 'tote' }),
    'orders: by a part that nothing has': search({ q: 'leila' }),
    'orders: the same, of the middle': search({ q: 'leila', before: middle }),
    'orders: by the beginning of a reference': search({ q: idOf('p', 4_711).slice(0, 23) }),
    'orders: in review': search({ status: 'review' }),
    'orders: to do': search({ status: 'todo' }),
    'orders: refunded': search({ status: 'refunded' }),
    'orders: not paid': search({ status: 'unpaid' }),
    'orders: failed, in one currency': search({ status: 'failed', currency: 'XOF' }),
    'orders: a status nobody has, of old days': search({
      status: 'expired',
      currency: 'GHS',
      to: '2026-01-01',
    }),
    'orders: by reference': () => orderIdOf(db, idOf('p', 4_711)),
    'orders: by external id': () => orderIdOf(db, 'shop-4711'),
    'orders: by nothing known': () => orderIdOf(db, 'nothing'),
    orderDetail: () => explain(all, middle),
    'order page: evidence': () => evidenceOf(all, middle),
    'order page: release': () => releaseOf(all, middle),
    'to do: oldest': () => readCases(db, mode, {}, { limit: 101 }),
    'to do: from the middle on, of a kind and an age': () =>
      readCases(db, mode, { class: 'underpaid', ageFromSec: 86_400 }, { after: '1.money-1', limit: 101 }),
    'to do: of a customer': () => readCases(db, mode, { words: 'buyer7' }, { limit: 101 }),
    'to do: counts and sums': () => countCases(db, mode, {}),
    'to do: by order': () => latestCaseOf(db, mode, idOf('o', 4_707)),
    'one case': () => readCases(db, mode, { references: [idOf('p', 7)] }, { limit: 1 }),
    'one case: history': () => recordsOf(db, mode, idOf('p', 7) as Reference),
    'releases: not delivered': () => undeliveredReleases(all, mode),
    'releases: newest': () => latestReleases(db, mode, null),
    'releases: from the middle on': () => latestReleases(db, mode, `rel_${middle}`),
    'webhooks: newest': () => latestWebhooks(db, { references: null, before: null }),
    'webhooks: from the middle on': () =>
      latestWebhooks(db, { references: null, before: String(Math.floor(orders / 3)) }),
    'webhooks: of a payment': () =>
      latestWebhooks(db, { references: [idOf('p', 4_711) as Reference], before: null }),
    'webhooks: refused lately': () => refusedLately(db, mode, 3_600),
    'webhooks: refused': () => refusedByMinute(db, mode, null),
    'one webhook': () => webhookById(db, '4711'),
    runs: () => latestRuns(db, mode, { before: null, day: null, isNotAgreedOnly: false }),
    'runs: not agreed, from the middle on': () =>
      latestRuns(db, mode, { before: 'run_4000' as RunId, day: null, isNotAgreedOnly: true }),
    'runs: of a day': () => latestRuns(db, mode, { before: null, day: '2026-01-01', isNotAgreedOnly: true }),
    'one run': () => runById(all, mode, runId),
    'one run: what was open': () => itemsOfRun(db, runId, MAX_ITEMS),
    'one run: others': async () => {
      const run = await runById(all, mode, runId);
      return run && runAfter(all, mode, run);
    },
    'one run: what changed': () => changesBetween(db, mode, 'run_99' as RunId, runId),
    'charts: confirmed': () => confirmedDays(db, mode, 30),
    'charts: held': () => heldDays(db, mode, 30),
    'metrics: last hour': () => metrics.lastHour(db, mode),
    'metrics: since confirmed': () => metrics.sinceConfirmed(db, mode),
    'metrics: due rows': () => glance.dueRows(db, mode),
    'metrics: oldest unanswered': () => metrics.oldestUnansweredHint(db, mode),
    'metrics: oldest suspense': () => metrics.oldestSuspense(db, mode),
  };
}

async function measureAll(database: Database, orders: number): Promise<Measured[]> {
  const seen: Measured[] = [];
  let page = '';
  const query: Queryable['query'] = async (statement, values = []) => {
    const text = typeof statement === 'string' ? statement : statement.text;
    if (/^\s*SET /.test(text)) return [];
    await database.query(text, values);
    const rows = await database.query(text, values);
    const plan = await database.query<{ 'QUERY PLAN': string }>(`EXPLAIN (ANALYZE, BUFFERS) ${text}`, values);
    const lines = plan.map((row) => row['QUERY PLAN']).join('\n');
    const times = [...lines.matchAll(/^(?:Planning|Execution) Time: ([\d.]+) ms/gm)];
    seen.push({ page, text, plan: lines, ms: times.reduce((all, [, ms]) => all + Number(ms), 0) });
    return rows as never;
  };
  const watched = { query };
  const all: Database = { ...database, query, transaction: (work) => work(watched) };
  for (const [name, look] of Object.entries(pages(watched, all, orders))) {
    page = name;
    const before = seen.length;
    await look();
    if (seen.length > before) continue;
    // Prisma's client makes its own statements: the second call is timed as a whole.
    const startedMs = performance.now();
    await look();
    seen.push({ page, text: '(by the typed client)', plan: '', ms: performance.now() - startedMs });
  }
  return seen;
}

function report(all: readonly Measured[], showsAllPlans: boolean): void {
  const slowest = [...all].sort((a, b) => b.ms - a.ms);
  for (const { page, ms, text } of slowest.slice(0, showsAllPlans ? all.length : 20))
    process.stdout.write(
      `${ms.toFixed(2).padStart(9)} ms  ${page.padEnd(42)} ${text.replace(/\s+/g, ' ').trim().slice(0, 70)}\n`,
    );
  const shown = showsAllPlans ? slowest : slowest.slice(0, 3);
  for (const { page, plan } of shown) process.stdout.write(`\n${page}\n${plan}\n`);
  const late = slowest.filter(({ ms }) => ms > PROMISE_MS).length;
  process.stdout.write(`\n${all.length} queries, ${late} of them over ${PROMISE_MS} ms\n`);
}
