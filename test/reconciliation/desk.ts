import { createGateway, type Gateway } from '../../src/gateway/gateway.ts';
import { parseDialect, type Dialect } from '../../src/gateway/dialect/dialect.ts';
import { defaultDialect } from '../support/dialect.ts';
import { SecretKey } from '../../src/gateway/secret-key.ts';
import { systemClock } from '../../src/platform/clock.ts';
import { newId } from '../../src/platform/ids.ts';
import { createLogger } from '../../src/platform/logger.ts';
import type { Alert } from '../../src/cases/alert.ts';
import { createReconcile, type Reconcile } from '../../src/reconciliation/reconcile.ts';
import { createSettle, type Settle } from '../../src/payments/confirm.ts';
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
  settle: Settle;
  reconcile: Reconcile;
  /** What somebody was told of, in order. */
  alerts: Alert[];
  /** A payment of ours and, unless null, what the history lists for it. */
  put(payment: PlantedPayment, transaction: Partial<FakeTransaction> | null): Promise<Planted>;
  /** The same reconciliation with another dialect. */
  speaking(dialect: object): Reconcile;
  close(): Promise<void>;
};

export type Planted = { reference: string; orderId: string };

export async function openDesk(): Promise<Desk> {
  const { database, url, close } = await createTestDatabase();
  const service = await startFakeService();
  const gateways: Gateway[] = [];
  const alerts: Alert[] = [];
  const alarm = (alert: Alert): Promise<void> => {
    alerts.push(alert);
    return Promise.resolve();
  };
  const logger = createLogger('silent');

  function reconcileWith(dialect: Dialect): Pick<Desk, 'gateway' | 'settle' | 'reconcile'> {
    const key = new SecretKey('sk_test_desk');
    const gateway = createGateway({
      url: service.url,
      key,
      dialect,
      checkoutHosts: [],
      concurrency: 4,
      logger,
    });
    gateways.push(gateway);
    const settle = createSettle({
      database,
      gateway,
      planRelease: () => ({ id: `rel_${newId()}`, delivery: 'unneeded' }),
      onReleased: () => undefined,
      logger,
    });
    return {
      gateway,
      settle,
      reconcile: createReconcile({
        database,
        gateway,
        settle,
        clock: systemClock,
        logger,
        concurrency: 4,
        alarm,
      }),
    };
  }

  return {
    database,
    url,
    service,
    alerts,
    ...reconcileWith(defaultDialect),
    put: async (payment, transaction) => {
      const planted = await plant(database, payment);
      if (transaction !== null) service.history.push({ reference: planted.reference, ...transaction });
      return planted;
    },
    speaking: (dialect) => reconcileWith(parseDialect(JSON.stringify(dialect)).dialect).reconcile,
    close: async () => {
      await Promise.all(gateways.map((gateway) => gateway.close()));
      await service.close();
      await close();
    },
  };
}
