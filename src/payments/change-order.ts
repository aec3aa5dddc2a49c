import { stopOnUnitErrors } from '../cases/stops.ts';
import { lockOrder, type Locked } from '../orders/order.ts';
import { transact, type Tx } from '../platform/db.ts';
import type { Prisma, PrismaClient } from '../platform/prisma/client.ts';
import { DOSSIER, noRows, type Change, type Dossier, type Terms } from './change.ts';
import { conclude } from './conclude.ts';
import { writeRows } from './write-rows.ts';

type ChangeParts = { prisma: PrismaClient; terms: Terms };
/** Synchronous: it changes rows in memory and asks nobody, neither the database nor the service. */
type Work<Result> = (change: Change) => Result extends PromiseLike<unknown> ? never : Result;

/**
 * Changes an order in three steps: read it whole behind its lock, decide, and write all rows at once. Deciding is the
 * work of the caller, and then `conclude`, which makes statuses, cases and messages agree with the ledger. Every change
 * of an order's money goes through here.
 * @returns what the work returns; null: there is no such order
 */
export function changeOrder<Result>(
  parts: ChangeParts,
  orderId: string,
  by: string,
  work: Work<Result>,
): Promise<Result | null> {
  return changeLocked(parts, by, work, async (tx) => {
    const locked = await lockOrder(tx, parts.terms.mode, orderId);
    if (locked === null) return null;
    // By one statement, of one snapshot: measured, twice as fast as one for each relation.
    const one = { where: { id: orderId }, include: DOSSIER, relationLoadStrategy: 'join' as const };
    return { locked, dossier: await tx.order.findUniqueOrThrow(one) };
  });
}

/**
 * The same of a payment that the list showed and nobody here has made: it stands alone, without an order.
 * @param isNew its row, where there is none yet: without money, it would count as set aside
 */
export function changeStranger<Result>(
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
        AND mode = ${parts.terms.mode}::mode FOR NO KEY UPDATE)
      SELECT clock_timestamp() AS now, nextval('verifications_id_seq') AS verification,
        nextval('refunds_id_seq') AS refund
      FROM locked`;
    if (locked === undefined) return null;
    const { include } = DOSSIER.payments;
    const payment = await tx.payment.findUniqueOrThrow({ where: { reference }, include });
    const { mode, amount, currency, createdAt } = payment;
    // As an order that has nothing: a column that a shop adds to orders is none of its business.
    const alone: Partial<Dossier> = { ...NO_ORDER, mode, amount, currency, createdAt, payments: [payment] };
    return { locked, dossier: alone as Dossier };
  });
}

const NO_ORDER = {
  ...{ id: '', email: '', status: 'pending' as const, metadata: {}, contentHash: null, externalId: null },
  ...{ returnUrl: null, payBy: null, endedAt: null, endedBy: null, endReason: null, releasedReference: null },
  ...{ paidAt: null, release: null, lines: [], messages: [], refunds: [] },
};

async function changeLocked<Result>(
  { prisma, terms }: ChangeParts,
  by: string,
  work: Work<Result>,
  read: (tx: Tx) => Promise<{ locked: Locked; dossier: Dossier } | null>,
): Promise<Result | null> {
  return transact(prisma, async (tx) => {
    const found = await read(tx);
    if (found === null) return null;
    const { locked, dossier } = found;
    const cases = await takeCaseIds(prisma, tx, dossier);
    const change: Change = { dossier, terms, by, now: locked.now, ids: { ...locked, cases }, rows: noRows() };
    const result = work(change);
    conclude(change);
    await writeRows(tx, change);
    giveBack(prisma, cases);
    for (const currency of change.rows.unitErrors) await stopOnUnitErrors(tx, dossier, currency, change.now);
    return result;
  });
}

/** Ids of cases that this process has taken from their sequence and not used yet. */
const RESERVED = new WeakMap<PrismaClient, bigint[]>();
const RESERVED_AT_ONCE = 20;

/**
 * Ids for as many cases as the change can open: one for each payment and currency. Few changes open one, so the ids are
 * taken from the sequence many at once, and what is left over goes to the next change.
 */
async function takeCaseIds(prisma: PrismaClient, tx: Tx, { payments }: Dossier): Promise<bigint[]> {
  const most = payments.reduce((count, { money }) => count + 1 + money.length, 2);
  const reserved = RESERVED.get(prisma) ?? [];
  RESERVED.set(prisma, reserved);
  if (reserved.length < most) {
    const count = most + RESERVED_AT_ONCE;
    const rows = await tx.$queryRaw<{ id: bigint }[]>`
      SELECT nextval('cases_id_seq') AS id FROM generate_series(1, ${count}::int)`;
    reserved.push(...rows.map(({ id }) => id));
  }
  return reserved.splice(0, most);
}

function giveBack(prisma: PrismaClient, ids: bigint[]): void {
  RESERVED.get(prisma)?.unshift(...ids);
}
