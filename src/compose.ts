import { fileURLToPath } from 'node:url';
import type { BackingServices } from './config/backing-services.ts';
import type { Config } from './config.ts';
import { createReturnFromCheckout, type ReturnFromCheckout } from './checkout/handle-return.ts';
import type { StartCheckout } from './checkout/checkout.ts';
import { createStartCheckout } from './checkout/start-checkout.ts';
import { createDueReleases, planRelease } from './fulfilment/deliver.ts';
import { createHttpReceiver } from './fulfilment/http-receiver.ts';
import {
  createRedeliver,
  createSendUnsent,
  type Redeliver,
  type SendUnsent,
} from './fulfilment/redeliver.ts';
import type { Receiver, ReleasePlan } from './fulfilment/release.ts';
import { createGateway, type Gateway } from './gateway/gateway.ts';
import { createWorkerWatch, type WorkerWatch } from './platform/heartbeat/worker-watch.ts';
import { observe, type Watch } from './observability/observe.ts';
import { createCatalogue, onlyPayable, type Catalogue } from './orders/catalogue.ts';
import { offerDemoProducts } from './orders/demo-products.ts';
import type { OwnParts } from './custom/index.ts';
import { systemClock } from './platform/clock.ts';
import { openDatabase, type Database } from './platform/database/database.ts';
import type { DueLoop } from './platform/poller/poller.ts';
import type { Logger } from './platform/logger.ts';
import { applyMigrations } from './platform/database/migrations.ts';
import { createWakeUp, type WakeUp } from './platform/database/wake-up.ts';
import type { Tracing } from './platform/tracing/tracing.ts';
import { createAlarm, type Alarm } from './cases/alert.ts';
import { createReconcile, type Reconcile } from './reconciliation/reconcile.ts';
import { createDuePayments } from './payments/due-payments.ts';
import type { Payment } from './payments/payment.ts';
import { createSettle, type Settle } from './payments/confirm.ts';
import { createReceiveWebhook, type ReceiveWebhook } from './webhooks/receive.ts';

/** Every part of the program, wired by hand in this one file. Nothing runs yet, no port is open. */
export type Program = {
  config: Config;
  logger: Logger;
  database: Database;
  gateway: Gateway;
  /** Our own origin as browsers reach it. */
  publicOrigin: () => string;
  catalogue: Catalogue;
  settle: Settle;
  startCheckout: StartCheckout;
  returnFromCheckout: ReturnFromCheckout;
  receiveWebhook: ReceiveWebhook;
  reconcile: Reconcile;
  alarm: Alarm;
  workerWatch: WorkerWatch;
  redeliver: Redeliver;
  sendUnsent: SendUnsent;
  /** Whether anybody is told of releases: FULFILMENT_URL, or the shop's own receiver. */
  hasReceiver: boolean;
  metricsRoutes: Watch['metricsRoutes'];
  /** Null: nobody asked for traces. */
  tracing: Tracing | null;
  /** The clock's loops; {@link wakeUp} rings them. */
  duePayments: DueLoop;
  dueReleases: DueLoop;
  wakeUp: WakeUp;
  close(): Promise<void>;
};

export type ComposeOptions = {
  config: Config;
  services: BackingServices;
  /** Our own origin as browsers reach it; known only once the server listens. */
  publicOrigin: () => string;
  logger: Logger;
  /** Belongs to whoever opened it. */
  tracing?: Tracing | null;
  /** What the shop has put in place of ours. Left out: the program as it came. */
  own?: OwnParts;
};

const AS_IT_CAME: OwnParts = { catalogue: null, receiver: null, alarm: null };
const MIGRATIONS = fileURLToPath(new URL('../prisma/migrations', import.meta.url));

/** Migrates the database and builds the program on it. @throws when the database cannot be reached or migrated */
export async function compose(options: ComposeOptions): Promise<Program> {
  const { config, services, logger, own = AS_IT_CAME } = options;
  await applyMigrations({ url: services.databaseUrl.reveal(), dir: MIGRATIONS, logger });
  const { tracing = null } = options;
  const watch = observe(tracing, systemClock);
  const unwatched = openDatabase(services.databaseUrl, logger);
  const database = watch.database(unwatched);
  if (config.demoShop && own.catalogue === null) await offerDemoProducts(database);
  const gateway = watch.gateway(gatewayOf(options));
  const receiver = receiverOf(config, tracing, own);
  const wakeUp = createWakeUp(unwatched, services.databaseUrl, logger);
  const receive = receiver.receive === null ? null : watch.receiver(receiver.receive);
  const parts = build(options, { database, gateway, receiver: receive, wakeUp, watch });
  return {
    ...parts,
    tracing,
    close: async () => {
      await Promise.all([parts.duePayments.stop(), parts.dueReleases.stop()]);
      await wakeUp.close();
      await Promise.all([gateway.close(), receiver.close()]);
      await database.close();
    },
  };
}

type Foundations = {
  database: Database;
  gateway: Gateway;
  receiver: Receiver | null;
  wakeUp: WakeUp;
  watch: Watch;
};

function build(options: ComposeOptions, foundations: Foundations): Omit<Program, 'close' | 'tracing'> {
  const { config, publicOrigin, logger, own = AS_IT_CAME } = options;
  const { database, gateway, receiver, wakeUp, watch } = foundations;
  const { mode } = gateway;
  const concurrency = config.GATEWAY_CONCURRENCY;
  const onDue = wakeUp.ring;
  const clock = systemClock;
  const isWorkerApart = config.WORKER === 'off';
  const catalogue = onlyPayable((own.catalogue ?? createCatalogue)(database));
  const plan = (orderId: Payment['orderId']): ReleasePlan => planRelease(receiver, orderId);
  const alarm = createAlarm(logger, own.alarm);
  const onUnitError = ({ orderId, reference, currency }: Payment): void => {
    void alarm({ event: 'unit-error', mode, orderId, reference, currency });
  };
  const settle = watch.settle(
    createSettle({ database, gateway, planRelease: plan, onReleased: onDue, onUnitError, logger }),
  );
  return {
    config,
    logger,
    database,
    gateway,
    publicOrigin,
    catalogue,
    settle,
    startCheckout: watch.checkout(
      createStartCheckout({ store: database, catalogue, gateway, publicOrigin, onDue, clock, logger }),
    ),
    returnFromCheckout: watch.comeBack(createReturnFromCheckout({ database, mode, settle, clock, logger })),
    ...buildChecks(options, foundations, settle),
    metricsRoutes: watch.metricsRoutes,
    reconcile: watch.reconcile(
      createReconcile({
        database,
        gateway,
        settle,
        clock,
        logger,
        concurrency,
        alarm,
        watchStep: watch.step,
      }),
    ),
    alarm,
    workerWatch: createWorkerWatch({ db: database, mode, isExpected: isWorkerApart, clock, logger }),
    redeliver: createRedeliver({ database, mode, receiver, onDue }),
    sendUnsent: createSendUnsent({ database, mode, receiver, onDue }),
    hasReceiver: receiver !== null,
    dueReleases: createDueReleases({ database, mode, receiver, logger, watch: watch.loops }),
    wakeUp,
  };
}

/** Webhooks are checked where they came in, as long as the clock has places; the rest is due. */
function buildChecks(
  { config, services, logger }: ComposeOptions,
  { database, gateway, wakeUp, watch }: Foundations,
  settle: Settle,
): Pick<Program, 'duePayments' | 'receiveWebhook'> {
  const { mode, dialect } = gateway;
  const duePayments = createDuePayments({
    database,
    gateway,
    settle,
    callsAtOnce: config.GATEWAY_CONCURRENCY,
    logger,
    watch: watch.loops,
  });
  const receiveWebhook = createReceiveWebhook({
    db: database,
    mode,
    dialect,
    secrets: services.webhookSecrets,
    withoutKey: gateway.withoutKey,
    clock: systemClock,
    reserve: duePayments.reserve,
    onClaimed: watch.hint(() => undefined),
    onDue: watch.hint(wakeUp.ring),
    logger,
  });
  return { duePayments, receiveWebhook: watch.webhooks(receiveWebhook) };
}

function gatewayOf({ config, services, logger }: ComposeOptions): Gateway {
  return createGateway({
    url: services.gatewayUrl,
    key: services.secretKey,
    dialect: config.dialect,
    checkoutHosts: config.CHECKOUT_HOSTS,
    callsPerSecond: config.GATEWAY_CALLS_PER_SECOND,
    concurrency: config.GATEWAY_CONCURRENCY,
    logger,
  });
}

function receiverOf({ FULFILMENT_URL, FULFILMENT_SECRET }: Config, tracing: Tracing | null, own: OwnParts) {
  if (FULFILMENT_URL && FULFILMENT_SECRET)
    return createHttpReceiver(FULFILMENT_URL, FULFILMENT_SECRET, tracing?.headers);
  return { receive: own.receiver, close: () => Promise.resolve() };
}
