import PQueue from 'p-queue';
import { stopOnUnitErrors } from '../cases/stops.ts';
import { lockFree, lockOrder, type Locked } from '../orders/order.ts';
import { isDatabaseAway, sqlStateOf, transact, type Tx } from '../platform/db.ts';
import { createGroups, type Pending } from '../platform/groups.ts';
import type { Prisma, PrismaClient } from '../platform/prisma/client.ts';
import { AGGREGATE, type Aggregate, type Policy } from './aggregate.ts';
import { NoCaseId, noRows, type Change } from './change.ts';
import { conclude } from './conclude.ts';
import { writeRows } from './write-rows.ts';

type ChangeParts = { prisma: PrismaClient; policy: Policy };
/**
 * Synchronous: it changes rows in memory and calls neither the database nor the service. It may run
 * twice.
 */
type Work<Result> = (change: Change) => Result extends PromiseLike<unknown> ? never : Result;
type Item = { parts: ChangeParts; orderId: string; by: string; work: (change: Change) => unknown };
type Waiting = Pending<Item, unknown>;

/** At most this many changes are written by one statement. */
const MOST_TOGETHER = 32;
/** Each may wait for a lock, so the number is limited to leave connections for the others. */
const ALONE = new PQueue({ concurrency: 10 });
const GROUPS = new WeakMap<PrismaClient, (item: Item) => Promise<unknown>>();

/**
 * Changes an order in three steps: lock and read it, decide, and write all rows at once. The
 * caller's `work` decides, and then `conclude` makes statuses, cases and messages agree with the
 * ledgers. Every change of an order's money goes through this function. Changes of different orders
 * that wait at the same moment are made together.
 * @returns the result of `work`. Null: there is no such order
 */
export async function changeOrder<Result>(
  parts: ChangeParts,
  orderId: string,
  by: string,
  work: Work<Result>,
): Promise<Result | null> {
  const known = GROUPS.get(parts.prisma);
  const keyOf = (item: Item): string => item.orderId;
  const enter = known ?? createGroups({ most: MOST_TOGETHER, keyOf, run: changeTogether });
  if (known === undefined) GROUPS.set(parts.prisma, enter);
  return (await enter({ parts, orderId, by, work })) as Result | null;
}

/**
 * Changes the orders that nobody else has locked in one transaction. A group never waits for an
 * order: one that is locked is changed alone, and waits there. If the database refuses the group,
 * nothing of it has happened, and each order is changed alone once, so that one bad order fails
 * none of its neighbours.
 */
async function changeTogether(group: Waiting[]): Promise<void> {
  const [{ parts }] = group.map(({ item }) => item) as [Item];
  const together = group.filter(({ item }) => item.parts.policy === parts.policy);
  let done = new Map<Waiting, () => void>();
  try {
    done = await parts.prisma.$transaction((tx) => changeFree(tx, parts, together));
  } catch (error) {
    // If the connection was lost, the group may have been written.
    if (isDatabaseAway(error) || sqlStateOf(error) === null) throw error;
  }
  for (const one of group) {
    const settle = done.get(one);
    if (settle === undefined) ALONE.add(() => changeAlone(one.item)).then(one.resolve, one.reject);
    else settle();
  }
}

/**
 * @returns the functions that settle the changes once the transaction has ended. Changes of locked
 * orders have none, and neither have changes that open a case: only `changeAlone` takes ids of
 * cases
 */
async function changeFree(tx: Tx, { policy }: ChangeParts, group: Waiting[]): Promise<Map<Waiting, () => void>> {
  const free = await lockFree(
    tx,
    policy.mode,
    group.map(({ item }) => item.orderId),
  );
  const aggregates = await readAggregates(tx, [...free.keys()]);
  const settled = new Map<Waiting, () => void>();
  const changes: Change[] = [];
  for (const one of group) {
    const locked = free.get(one.item.orderId);
    const aggregate = aggregates.find(({ id }) => id === one.item.orderId);
    if (locked === undefined || aggregate === undefined) continue;
    const change = begin(one.item.parts, one.item.by, locked, aggregate);
    try {
      const result = one.item.work(change);
      conclude(change);
      changes.push(change);
      settled.set(one, () => {
        one.resolve(result);
      });
    } catch (error) {
      if (error instanceof NoCaseId) continue;
      settled.set(one, () => {
        one.reject(error);
      });
    }
  }
  await write(tx, changes);
  return settled;
}

/** Waits for the lock of an order, and changes it in a transaction of its own. */
function changeAlone({ parts, orderId, by, work }: Item): Promise<unknown> {
  return changeLocked(parts, by, work, async (tx) => {
    const locked = await lockOrder(tx, parts.policy.mode, orderId);
    if (locked === null) return null;
    const [aggregate] = await readAggregates(tx, [orderId]);
    return aggregate === undefined ? null : { locked, aggregate };
  });
}

/** One statement and one snapshot. It is twice as fast as one statement for each relation. */
async function readAggregates(tx: Tx, ids: readonly string[]): Promise<Aggregate[]> {
  const [last] = ids.slice(-1);
  if (last === undefined) return [];
  // PostgreSQL plans another statement for each length of the list. So the length is a power of
  // two.
  const length = 2 ** Math.ceil(Math.log2(ids.length));
  const padded = [...ids, ...Array<string>(length - ids.length).fill(last)];
  const where = { id: { in: padded } };
  return tx.order.findMany({ where, include: AGGREGATE, relationLoadStrategy: 'join' });
}

/**
 * The same for an unmatched payment, which has no order: the history reports it under a reference
 * that is not ours.
 * @param isNew its row, if it is not known yet. A row without a ledger would count as set aside
 */
export function changeUnmatched<Result>(
  parts: ChangeParts,
  reference: string,
  by: string,
  work: Work<Result>,
  isNew?: Prisma.PaymentCreateManyInput,
): Promise<Result | null> {
  return changeLocked(parts, by, work, async (tx) => {
    if (isNew) await tx.payment.createMany({ data: [isNew], skipDuplicates: true });
    const [locked] = await tx.$queryRaw<Locked[]>`
      WITH locked AS MATERIALIZED (SELECT 1 FROM payments WHERE reference = ${reference} AND order_id IS NULL
        AND mode = ${parts.policy.mode}::mode FOR NO KEY UPDATE)
      SELECT clock_timestamp() AS now, nextval('verifications_id_seq') AS verification,
        nextval('refunds_id_seq') AS refund
      FROM locked`;
    if (locked === undefined) return null;
    const { include } = AGGREGATE.payments;
    const payment = await tx.payment.findUniqueOrThrow({ where: { reference }, include });
    const { mode, amount, currency, createdAt } = payment;
    // An empty order around the payment. Columns that a shop adds to orders are missing here.
    const alone: Partial<Aggregate> = { ...NO_ORDER, mode, amount, currency, createdAt, payments: [payment] };
    return { locked, aggregate: alone as Aggregate };
  });
}

const NO_ORDER = {
  id: '',
  email: '',
  status: 'pending' as const,
  metadata: {},
  contentHash: null,
  externalId: null,
  returnUrl: null,
  payBy: null,
  endedAt: null,
  endedBy: null,
  endReason: null,
  paidReference: null,
  paidAt: null,
  partPaid: 0n,
  proof: null,
  lines: [],
  messages: [],
  refunds: [],
};

function begin({ policy }: ChangeParts, by: string, locked: Locked, aggregate: Aggregate): Change {
  return { aggregate, policy, by, now: locked.now, ids: { ...locked, cases: [] }, rows: noRows(), told: [] };
}

async function changeLocked<Result>(
  parts: ChangeParts,
  by: string,
  work: (change: Change) => Result,
  read: (tx: Tx) => Promise<{ locked: Locked; aggregate: Aggregate } | null>,
): Promise<Result | null> {
  return transact(parts.prisma, async (tx) => {
    const found = await read(tx);
    if (found === null) return null;
    const change = begin(parts, by, found.locked, found.aggregate);
    const result = work(change);
    change.ids.cases = await newCaseIds(tx, found.aggregate);
    conclude(change);
    await write(tx, [change]);
    return result;
  });
}

async function write(tx: Tx, changes: Change[]): Promise<void> {
  await writeRows(tx, changes);
  for (const { aggregate, now, rows } of changes)
    for (const currency of rows.unitErrors) await stopOnUnitErrors(tx, aggregate, currency, now);
}

/**
 * Ids for all cases that the change can open: one for each payment and currency. Unused ids leave
 * gaps.
 */
async function newCaseIds(tx: Tx, { payments }: Aggregate): Promise<bigint[]> {
  const most = payments.reduce((count, { ledgers }) => count + 1 + ledgers.length, 0);
  const rows = await tx.$queryRaw<{ id: bigint }[]>`
    SELECT nextval('cases_id_seq') AS id FROM generate_series(1, ${most}::int)`;
  return rows.map(({ id }) => id);
}
