import type { Logger } from 'pino';
import { loadConfig, type Config } from './config.ts';
import { catalogue, DEMO_PRODUCTS } from './custom/catalogue.ts';
import { receiver as ownReceiver } from './custom/fulfilment.ts';
import { createHttpReceiver, startDeliveryLoop, type Receiver } from './fulfilment/deliver.ts';
import { createGateway, type Gateway } from './gateway/gateway.ts';
import { loadAdapter } from './load-adapter.ts';
import type { Catalogue } from './orders/catalogue.ts';
import type { Terms } from './payments/change.ts';
import { createConfirm, type Confirm } from './payments/confirm.ts';
import { startDueLoop } from './payments/due.ts';
import { endOverdue } from './payments/end.ts';
import { openDatabase, type Database } from './platform/db.ts';
import { createLogger } from './platform/logger.ts';
import { startLoop, type Loop } from './platform/loop.ts';
import { watchDatabase } from './alerts/metrics.ts';
import { applyMigrations } from './platform/migrate.ts';

/** All parts, put together by hand, once for each process. */
export type Program = {
  config: Config;
  logger: Logger;
  database: Database;
  gateway: Gateway;
  catalogue: Catalogue;
  terms: Terms;
  confirm: Confirm;
  /** A payment may be due now; a message may be due now. The loops of this process look at once. */
  onDue: () => void;
  onMessage: () => void;
  /** Starts the tasks that nobody waits for: checks, deadlines, messages. Once, in a server or in a worker. */
  startWork(): void;
  close(): Promise<void>;
};

const DEADLINES_EVERY_MS = 5_000;

/** Opens everything, after the migrations. @throws {ConfigError} when the configuration is wrong */
export async function openProgram(config: Config = loadConfig()): Promise<Program> {
  const logger = createLogger(config.LOG_LEVEL);
  for (const warning of config.warnings) logger.warn(warning);
  const adapter = await loadAdapter(config.GATEWAY_ADAPTER);
  const applied = await applyMigrations(config.DATABASE_URL.reveal());
  if (applied.length > 0) logger.info({ applied }, 'migrations applied');
  const database = openDatabase(config.DATABASE_URL);
  const { prisma } = database;
  if (!config.production) await fillCatalogue(database);
  watchDatabase(prisma, config.mode);
  const gateway = createGateway({
    url: config.GATEWAY_URL,
    key: config.GATEWAY_SECRET_KEY,
    mode: config.mode,
    adapter,
    checkoutHosts: config.CHECKOUT_HOSTS,
    callsPerSecond: config.GATEWAY_CALLS_PER_SECOND,
    concurrency: config.GATEWAY_CONCURRENCY,
    logger,
  });
  const receiver = receiverOf(config);
  const wanted = { types: new Set<string>(config.FULFILMENT_EVENTS), hasReceiver: receiver !== null };
  const terms = { mode: config.mode, payableDays: adapter.payableDays, lagMin: adapter.history.lagMin, wanted };
  const loops: { due?: Loop; messages?: Loop; deadlines?: Loop } = {};
  const onDue = (): void => loops.due?.wake();
  const onMessage = (): void => loops.messages?.wake();
  const confirm = createConfirm({ prisma, gateway, terms, logger, onMessage });
  const parts = { config, logger, database, gateway, catalogue, terms, confirm, onDue, onMessage };
  return {
    ...parts,
    startWork: () => {
      loops.due = startDueLoop({ prisma, terms, confirm }, logger);
      if (receiver !== null) loops.messages = startDeliveryLoop(prisma, config.mode, receiver, logger);
      const passDeadlines = () => endOverdue({ prisma, confirm, terms, logger }).then(() => false);
      loops.deadlines = startLoop('deadlines', passDeadlines, DEADLINES_EVERY_MS, logger);
    },
    close: async () => {
      await Promise.all(Object.values(loops).map((loop) => loop.stop()));
      await receiver?.close?.();
      await gateway.close();
      await database.close();
    },
  };
}

/** The shop's own code where it has some, else its system behind FULFILMENT_URL; null: nobody is told. */
function receiverOf({ FULFILMENT_URL, FULFILMENT_SECRET }: Config): (Receiver & { close?(): Promise<void> }) | null {
  if (ownReceiver !== null) return ownReceiver;
  return FULFILMENT_URL === null || FULFILMENT_SECRET === null
    ? null
    : createHttpReceiver(FULFILMENT_URL, FULFILMENT_SECRET);
}

/** Something to sell, so that a stranger can buy at once. */
async function fillCatalogue({ prisma }: Database): Promise<void> {
  if ((await prisma.product.count()) === 0)
    await prisma.product.createMany({ data: DEMO_PRODUCTS, skipDuplicates: true });
}
