/**
 * The promises of this software as a program: run it after anything, once nothing is due any more, and it names what
 * does not hold. Of the thirty-two invariants it checks these, as far as the two books (our database, the stand-in's
 * ledger and call log), a receiver of releases and captured logs can tell:
 * I1 I2 I3 I4 I5 I8 I9 I11 I12 I13 I14 (stored checkout addresses) I15 I16 (verify calls per payment) I17 I18 I19 I20
 * I21 I22 (the last answer, not its age) I23 I28 (logs that were given).
 *
 * Not here, because no end state shows it:
 * I6 the key's containment: canary.test.ts, over every door. I7 outgoing connections: needs a proxy, later.
 * I10 Idempotency-Key: checkout/idempotency.test.ts. I14 for redirects, I24 problem answers, I25 pages: the tests of their
 * rooms. I26 enumeration and timing: later. I27 bounds: bench. I29 clock faults, I30 two versions at once, I31 replay of a
 * trace: later. I32 is planted.test.ts: each check below is seen to fail.
 */
import type { Queryable } from '../../src/platform/database.ts';
import { againstTheService, moneyAddsUp, unknownVerified } from './invariants/at-the-service.ts';
import { IN_THE_DATABASE } from './invariants/in-the-database.ts';
import { inTheAnswers } from './invariants/in-the-answers.ts';
import { inTheTraffic } from './invariants/in-the-traffic.ts';
import { findKey, personalData } from './invariants/leaks.ts';
import type { Traffic } from './traffic/traffic.ts';
import { readOrphans, readPayments, readServiceBooks, type ServiceBooks } from './invariants/observed.ts';

/** One delivery of a release, as its receiver saw it. */
export type Delivery = { orderId: string; releaseId: string };

export type Observed = {
  database: Queryable;
  service: ServiceBooks;
  /** Everything that the receiver of releases got. */
  sink?: readonly Delivery[];
  /** Bodies of webhooks that were answered 2xx. */
  acknowledged?: readonly string[];
  /** Log lines. */
  logs?: readonly string[];
  key?: string;
  /** What came in and went out. */
  traffic?: Traffic;
  /** How often the scenario made everything due at once, beside the schedule. */
  passes?: number;
};

/** @returns one line per violation, each beginning with the invariant's name; empty when all hold */
export async function checkInvariants({
  sandboxUrl,
  ...observed
}: Omit<Observed, 'service'> & { sandboxUrl: string }): Promise<string[]> {
  return violationsIn({ ...observed, service: await readServiceBooks(sandboxUrl) });
}

/** The same over books that were read before, or made up. */
export async function violationsIn(observed: Observed): Promise<string[]> {
  const { database, service, sink, acknowledged = [], logs = [], key, traffic, passes = 0 } = observed;
  const lines: string[] = [];
  // One after the other: a transaction has one connection.
  for (const { name, broken, sql } of IN_THE_DATABASE) {
    const rows = await database.query<{ what: string }>(sql);
    lines.push(...rows.map(({ what }) => `${name}: ${what} ${broken}`));
  }
  const [count] = await database.query<{ runs: number }>(
    'SELECT count(*)::int AS runs FROM reconciliation_runs',
  );
  const books = {
    ...service,
    payments: await readPayments(database),
    orphans: await readOrphans(database),
    runs: count?.runs ?? 0,
    passes,
  };
  lines.push(...againstTheService(books), ...unknownVerified(books), ...moneyAddsUp(books));
  if (sink !== undefined) lines.push(...(await receivedOnce(database, sink)));
  lines.push(...(await keptAll(database, acknowledged)));
  if (logs.length > 0) {
    const bodies = await database.query<{ body: Buffer }>('SELECT body FROM webhooks');
    const texts = bodies.map(({ body }) => body.toString('utf8'));
    lines.push(...new Set(logs.flatMap((line) => personalData(line, texts, key))));
  }
  if (traffic !== undefined) lines.push(...inTheTraffic(traffic, key), ...inTheAnswers(traffic));
  if (key !== undefined) lines.push(...(await keyInRows(database, key)));
  return lines;
}

/** I6: no row of any table holds the key, not even in bytes, which stand as hex in such a text. */
async function keyInRows(database: Queryable, key: string): Promise<string[]> {
  const tables = await database.query<{ name: string }>(
    `SELECT table_name AS name FROM information_schema.tables WHERE table_schema = 'public' AND table_type = 'BASE TABLE'`,
  );
  const lines: string[] = [];
  for (const { name } of tables) {
    const rows = await database.query<{ row: string }>(`SELECT to_jsonb(t)::text AS row FROM "${name}" t`);
    if (rows.some(({ row }) => findKey(row, key).length > 0))
      lines.push(`I6: a row of ${name} holds the key`);
  }
  return lines;
}

/** I2 at the receiver: only paid orders, each under the one id of its release, and every delivered one arrived. */
async function receivedOnce(database: Queryable, sink: readonly Delivery[]): Promise<string[]> {
  const releases = await database.query<{ id: string; orderId: string; delivery: string }>(
    'SELECT id, order_id AS "orderId", delivery FROM releases',
  );
  const idOf = new Map(releases.map(({ id, orderId }) => [orderId, id]));
  const arrived = new Set(sink.map(({ releaseId }) => releaseId));
  return [
    ...sink
      .filter(({ orderId, releaseId }) => idOf.get(orderId) !== releaseId)
      .map(({ orderId, releaseId }) => `I2: order ${orderId} was delivered under ${releaseId}, not its own`),
    ...releases
      .filter(({ id, delivery }) => delivery === 'delivered' && !arrived.has(id))
      .map(({ id }) => `I2: release ${id} counts as delivered and never arrived`),
  ];
}

/** I12: what was acknowledged is on disk. */
async function keptAll(database: Queryable, acknowledged: readonly string[]): Promise<string[]> {
  if (acknowledged.length === 0) return [];
  const rows = await database.query<{ at: string }>(
    `SELECT at FROM unnest($1::text[]) WITH ORDINALITY AS given (body, at)
     WHERE NOT EXISTS (SELECT FROM webhooks w WHERE w.body_sha256 = sha256(convert_to(given.body, 'UTF8')))`,
    [acknowledged],
  );
  return rows.map(({ at }) => `I12: webhook ${at} of those acknowledged was not kept`);
}
