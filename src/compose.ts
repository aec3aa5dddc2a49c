import { fileURLToPath } from 'node:url';
import type { BackingServices } from './config/backing-services.ts';
import { createDueAlerts, conditionsOf, alertOnUnitError } from './due-alerts.ts';
import type { Config } from './config.ts';
import { alertHookOf, gatewayOf, receiverOf } from './connections.ts';
import { createReturnFromCheckout } from './checkout/return-from-checkout.ts';
import { createStartCheckout } from './checkout/start-checkout.ts';
import { planRelease, createFulfilment } from './fulfilment/due-deliveries.ts';
import type { EventReceiver } from './fulfilment/event.ts';
import type { Receiver, ReleasePlan } from './fulfilment/release.ts';
import type { Gateway } from './gateway/gateway.ts';
import { createWorkerWatch } from './platform/heartbeat.sql.ts';
import { observe, type Watch } from './observability/observe.ts';
import { createCatalogue, onlyPayable } from './orders/catalogue.ts';
import { offerDemoProducts } from './orders/demo-products.ts';
import { DEFAULTS, type Extensions } from './extensions.ts';
import { systemClock } from './platform/clock.ts';
import { openDatabase, type Database } from './platform/database/database.ts';
import { openReads } from './platform/database/reads.ts';
import type { Logger } from './platform/logger.ts';
import { applyMigrations } from './platform/database/migrations.ts';
import { createWakeUp, type WakeUp } from './platform/database/wake-up.ts';
import type { Tracing } from './platform/tracing/tracing.ts';
import { createAlerts, type Alarms } from './alerts/send-alerts.ts';
import { createReconcile } from './reconciliation/reconcile.ts';
import { createCancelOrder, createEndOrder } from './payments/end-order.ts';
import { createCheckoutStops } from './payments/checkout-stops.ts';
import { createDuePayments } from './payments/due-payments.ts';
import type { Payment } from './payments/payment.ts';
import { createAccept } from './payments/accept.ts';
import { createConfirm, type Confirm } from './payments/confirm.ts';
import { createReceiveWebhook } from './webhooks/receive.ts';
import type { Program } from './program.ts';

type ComposeOptions = {
  config: Config;
  services: BackingServices;
  /** Our own origin as browsers reach it; known only once the server listens. */
  publicOrigin: () => string;
  logger: Logger;
  /** Belongs to the caller, who also closes it. */
  tracing?: Tracing | null;
  /** What the shop has put in place of ours. Left out: nothing. */
  extensions?: Extensions;
};

/** The folder of the program's own migrations. */
export const MIGRATIONS = fileURLToPath(new URL('../prisma/migrations', import.meta.url));

/**
 * Migrates the database and builds the program on it.
 * @throws when the database cannot be reached or migrated
 */
export async function compose(options: ComposeOptions): Promise<Program> {
  const { config, services, logger, extensions = DEFAULTS } = options;
  const shopDir = extensions.migrations && fileURLToPath(extensions.migrations);
  await applyMigrations({ url: services.databaseUrl.reveal(), dir: MIGRATIONS, shopDir, logger });
  const { tracing = null } = options;
  const watch = observe(tracing, systemClock);
  const unwatched = openDatabase(services.databaseUrl, logger);
  const database = watch.database(unwatched);
  const reads = openReads(database, config.DATABASE_READ_URL, {
    ...{ clock: systemClock, logger, watch: watch.database },
  });
  if (config.demoShop && extensions.catalogue === null) await offerDemoProducts(database);
  const alertHook = alertHookOf(config, extensions);
  const alarms = createAlerts({
    db: database,
    logger,
    clock: systemClock,
    onAlert: alertHook.onAlert,
    holds: conditionsOf(database, extensions.alertChecks ?? []),
  });
  const gateway = watch.gateway(gatewayOf(options, alarms.alarm));
  const receiver = receiverOf(config, tracing, extensions);
  const wakeUp = createWakeUp(unwatched, services.databaseUrl, logger);
  const receive = receiver.receive === null ? null : watch.receiver(receiver.receive);
  const { receiveEvent: eventReceiver } = receiver;
  const receivers = { receiver: receive, eventReceiver };
  const parts = build(options, { database, gateway, receivers, alarms, wakeUp, watch });
  return {
    ...parts,
    reads,
    tracing,
    metrics: () => watch.metrics({ reads, gateway, workerWatch: parts.workerWatch }),
    close: async () => {
      await Promise.all([parts.duePayments.stop(), parts.dueReleases.stop(), parts.dueEvents.stop()]);
      await wakeUp.close();
      await Promise.all([gateway.close(), receiver.close(), alertHook.close()]);
      await Promise.all([database.close(), reads.close()]);
    },
  };
}

type Foundations = {
  database: Database;
  gateway: Gateway;
  receivers: { receiver: Receiver | null; eventReceiver: EventReceiver | null };
  alarms: Alarms;
  wakeUp: WakeUp;
  watch: Watch;
};

type Parts = Omit<Program, 'close' | 'tracing' | 'reads' | 'metrics'>;

function build(options: ComposeOptions, foundations: Foundations): Parts {
  const { config, publicOrigin, logger, extensions = DEFAULTS } = options;
  const { database, gateway, receivers, alarms, wakeUp, watch } = foundations;
  const { receiver } = receivers;
  const { alarm } = alarms;
  const { mode } = gateway;
  const { GATEWAY_CONCURRENCY: concurrency, FULFILMENT_EVENTS: types } = config;
  const watchStep = watch.step;
  const onDue = wakeUp.ring;
  const clock = systemClock;
  const dueAlerts = createDueAlerts({ database, alarms, mode, checks: extensions.alertChecks, logger });
  const catalogue = onlyPayable((extensions.catalogue ?? createCatalogue)(database));
  const plan = ({ releaseId }: Payment): ReleasePlan => planRelease(receiver, releaseId);
  const onUnitError = alertOnUnitError(alarm);
  const confirm = watch.confirm(
    createConfirm({ database, gateway, planRelease: plan, onReleased: onDue, onUnitError, logger }),
  );
  return {
    config,
    logger,
    database,
    gateway,
    publicOrigin,
    extensions,
    catalogue,
    confirm,
    accept: createAccept({ database, gateway, confirm, planRelease: plan, onReleased: onDue, logger }),
    startCheckout: watch.checkout(
      createStartCheckout({ store: database, catalogue, gateway, publicOrigin, onDue, clock, logger }),
    ),
    returnFromCheckout: watch.handleReturn(
      createReturnFromCheckout({ database, mode, confirm, clock, logger }),
    ),
    ...buildChecks(options, foundations, confirm),
    reconcile: watch.reconcile(
      dueAlerts.afterRun(
        createReconcile({ database, gateway, confirm, clock, logger, concurrency, alarm, watchStep }),
      ),
    ),
    alarm,
    sendDueAlerts: dueAlerts.due,
    workerWatch: createWorkerWatch({
      db: database,
      mode,
      isExpected: config.WORKER === 'off',
      clock,
      onSeen: dueAlerts.ofWorker,
      logger,
    }),
    ...createFulfilment({ database, mode, ...receivers, alarm, logger, watch: watch.loops, onDue, types }),
    checkoutStops: createCheckoutStops({ database, mode, alarm, onChanged: dueAlerts.due }),
    wakeUp,
  };
}

/**
 * A process that works, too, checks the payment of a webhook that it receives while its poller has slots. The
 * rest, and with `WORKER=off` every one, is due: a notification wakes a worker.
 */
function buildChecks(
  { config, services, logger }: ComposeOptions,
  { database, gateway, wakeUp, watch }: Foundations,
  confirm: Confirm,
): Pick<Program, 'duePayments' | 'receiveWebhook' | 'cancelOrder'> {
  const { mode, dialect } = gateway;
  const endOrder = createEndOrder({ database, gateway, confirm, logger });
  const duePayments = createDuePayments({
    database,
    gateway,
    confirm,
    endOrder,
    callsAtOnce: config.GATEWAY_CONCURRENCY,
    logger,
    watch: watch.loops,
  });
  const receiveWebhook = createReceiveWebhook({
    db: database,
    mode,
    dialect,
    secrets: services.webhookSecrets,
    redactKey: gateway.redactKey,
    clock: systemClock,
    reserve: duePayments.reserve,
    onLeased: watch.hint(() => undefined),
    onDue: watch.hint(wakeUp.ring),
    logger,
  });
  return {
    duePayments,
    receiveWebhook: watch.webhooks(receiveWebhook),
    cancelOrder: createCancelOrder(endOrder, logger),
  };
}
