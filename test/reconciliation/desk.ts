import { afterAll } from '@jest/globals';
import { createGateway, type Gateway } from '../../src/gateway/gateway.ts';
import { parseDialect, type Dialect } from '../../src/gateway/dialect/dialect.ts';
import { defaultDialect } from '../support/dialect.ts';
import { SecretKey } from '../../src/gateway/secret-key.ts';
import { systemClock } from '../../src/platform/clock.ts';
import { newId } from '../../src/platform/ids.ts';
import { createLogger } from '../../src/platform/logger.ts';
import type { Alarm, Alert, Over } from '../../src/alerts/alert.ts';
import { createReconcile, type Reconcile } from '../../src/reconciliation/reconcile.ts';
import { createConfirm, type Confirm } from '../../src/payments/confirm.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { plant, type PlantedPayment } from './books.ts';
import { startFakeService, type FakeService, type FakeTransaction } from './fake-service.ts';

/** A database, a service that says what it is told to, and the reconciliation between them. */
export type Desk = {
  database: TestDatabase['database'];
  /** Of the database. */
  url: string;
  service: FakeService;
  gateway: Gateway;
  confirm: Confirm;
  reconcile: Reconcile;
  /** What somebody was told of, in order. */
  alerts: Alert[];
  /** Those of it that were noted in the transaction of their run, and what that said is over. */
  inTransaction: (Alert | Over)[];
  /** A payment of ours and, unless null, what the history lists for it. */
  put(payment: PlantedPayment, transaction: Partial<FakeTransaction> | null): Promise<Planted>;
  /** The same reconciliation with another dialect. */
  speaking(dialect: object): Reconcile;
  /** The same reconciliation with a live key. */
  live: Reconcile;
  close(): Promise<void>;
};

export type Planted = { reference: string; orderId: string };

/** Databases of this file that no desk has: to empty one costs a tenth of a new one. */
const free: TestDatabase[] = [];
afterAll(() => Promise.all(free.map(({ close }) => close())));

/** With no trigger that refuses it; numbers begin anew. */
const EMPTY = `DO $$ DECLARE name regclass; BEGIN
  SET LOCAL session_replication_role = replica;
  FOR name IN SELECT oid FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace
    AND relname <> '_prisma_migrations' LOOP EXECUTE 'DELETE FROM ' || name; END LOOP;
  PERFORM setval(seqrelid::regclass, seqstart, false) FROM pg_sequence;
END $$`;

async function takeDatabase(): Promise<TestDatabase> {
  const used = free.pop();
  await used?.database.query(EMPTY);
  return used ?? createTestDatabase();
}

export type Reconciling = Pick<Desk, 'gateway' | 'confirm' | 'reconcile'>;

/** Reconciliation between a database and the service at `url`; its gateway is to be closed. */
export function startReconciling(parts: {
  database: Desk['database'];
  url: URL;
  dialect: Dialect;
  alarm: Alarm;
  /** A test key unless said. */
  key?: string;
  journalsAtOnce?: number;
}): Reconciling {
  const { database, url, dialect, alarm, journalsAtOnce } = parts;
  const logger = createLogger('silent');
  const key = new SecretKey(parts.key ?? 'sk_test_desk');
  const gateway = createGateway({ url, key, dialect, checkoutHosts: [], concurrency: 4, logger });
  const confirm = createConfirm({
    database,
    gateway,
    planRelease: () => ({ id: `rel_${newId()}`, delivery: 'unneeded' }),
    onReleased: () => undefined,
    logger,
  });
  const clock = systemClock;
  const reconcile = createReconcile({
    ...{ database, gateway, confirm, clock, logger, concurrency: 4, alarm, journalsAtOnce },
  });
  return { gateway, confirm, reconcile };
}

export async function openDesk(): Promise<Desk> {
  const books = await takeDatabase();
  const { database, url } = books;
  const service = await startFakeService();
  const gateways: Gateway[] = [];
  const alerts: Alert[] = [];
  const inTransaction: (Alert | Over)[] = [];
  const alarm: Alarm = (alert, tx) => {
    if (tx !== undefined) inTransaction.push(alert);
    if (!('over' in alert)) alerts.push(alert);
    return Promise.resolve();
  };
  function reconcileWith(dialect: Dialect, key?: string): Reconciling {
    const parts = { database, url: service.url, dialect, alarm };
    const reconciling = startReconciling({ ...parts, ...(key !== undefined && { key }) });
    gateways.push(reconciling.gateway);
    return reconciling;
  }

  return {
    database,
    url,
    service,
    alerts,
    inTransaction,
    ...reconcileWith(defaultDialect),
    live: reconcileWith(defaultDialect, 'sk_live_desk').reconcile,
    put: async (payment, transaction) => {
      const planted = await plant(database, payment);
      if (transaction !== null) service.history.push({ reference: planted.reference, ...transaction });
      return planted;
    },
    speaking: (dialect) => reconcileWith(parseDialect(JSON.stringify(dialect)).dialect).reconcile,
    close: async () => {
      await Promise.all(gateways.map((gateway) => gateway.close()));
      await service.close();
      free.push(books);
    },
  };
}
