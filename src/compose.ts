import { loadConfig, type Config } from './config.ts';
import { catalogue } from './custom/catalogue.ts';
import demoProducts from './custom/demo-products.json' with { type: 'json' };
import { createReceiver } from './custom/fulfilment.ts';
import { retain } from './fulfilment/retention.ts';
import { receiverAt, startDeliveryLoop, type Receiver } from './fulfilment/deliver.ts';
import { createGateway } from './gateway/gateway.ts';
import { loadAdapter } from './load-adapter.ts';
import { createConfirm } from './payments/confirm.ts';
import { startDueLoop } from './payments/due.ts';
import { endOverdue } from './payments/end.ts';
import { startReconciliation } from './reconciliation/schedule.ts';
import { openDatabase, type Database } from './platform/db.ts';
import { createLogger } from './platform/logger.ts';
import { startLoop, type Loop } from './platform/loop.ts';
import { watchDatabase } from './alerts/metrics.ts';
import { startAlerts } from './alerts/pass.ts';
import { caseSentences } from './reporting/words.ts';
import { applyMigrations } from './platform/migrate.ts';

/** All parts, put together by hand, once for each process. */
export type Program = Awaited<ReturnType<typeof openProgram>>;

const DEADLINES_EVERY_MS = 5_000;
const DAY_MS = 86_400_000;

/** Opens everything, after the migrations. @throws {ConfigError} when the configuration is wrong */
export async function openProgram(config: Config = loadConfig()) {
  const logger = createLogger(config.LOG_LEVEL);
  for (const warning of config.warnings) logger.warn(warning);
  const adapter = await loadAdapter(config.GATEWAY_ADAPTER);
  const applied = await applyMigrations(config.DATABASE_URL.reveal());
  if (applied.length > 0) logger.info({ applied }, 'migrations applied');
  const database = openDatabase(config.DATABASE_URL);
  const { prisma } = database;
  if (!config.production) await fillCatalogue(database);
  watchDatabase(prisma, config.mode);
  const { GATEWAY_URL: url, GATEWAY_SECRET_KEY: key, mode, CHECKOUT_HOSTS: checkoutHosts } = config;
  const { GATEWAY_CALLS_PER_SECOND: callsPerSecond, GATEWAY_CONCURRENCY: concurrency } = config;
  const gateway = createGateway({ url, key, mode, adapter, checkoutHosts, callsPerSecond, concurrency, logger });
  // The shop's own code where it has some, else its system behind FULFILMENT_URL; null: nobody is told.
  const ours: (Receiver & { close?(): Promise<void> }) | null = createReceiver();
  const receiver = ours ?? receiverAt(config.FULFILMENT_URL, config.FULFILMENT_SECRET);
  const wanted = { types: new Set<string>(config.FULFILMENT_EVENTS), hasReceiver: receiver !== null };
  const terms = { mode: config.mode, payableDays: adapter.payableDays, lagMin: adapter.history.lagMin, wanted };
  const loops: { due?: Loop; messages?: Loop } = {};
  const others: Loop[] = [];
  // A payment may be due now, or a message: the loops of this process look at once.
  const onDue = (): void => loops.due?.wake();
  const onMessage = (): void => loops.messages?.wake();
  const confirm = createConfirm({ prisma, gateway, terms, logger, onMessage });
  const parts = { config, logger, database, prisma, gateway, catalogue, terms, confirm, onDue, onMessage };

  /** Starts alerts, and in a worker what nobody waits for: checks, deadlines, messages, reconciliation. Once. */
  function start(isWorker: boolean): void {
    const sentences = (ids: bigint[]) => caseSentences(prisma, ids, config.SHOP_TIME_ZONE);
    others.push(startAlerts({ prisma, gateway, logger, caseSentences: sentences }, config));
    if (!isWorker) return;
    loops.due = startDueLoop(parts, logger);
    if (receiver !== null) loops.messages = startDeliveryLoop(prisma, config.mode, receiver, logger);
    const repeat = (name: string, everyMs: number, work: () => Promise<unknown>): void => {
      others.push(startLoop(name, () => work().then(() => false), everyMs, logger));
    };
    repeat('deadlines', DEADLINES_EVERY_MS, () => endOverdue(parts));
    const { RETAIN_BODIES_DAYS: days } = config;
    if (days !== null) repeat('retention', DAY_MS, () => retain(prisma, days));
    others.push(startReconciliation({ ...parts, pool: database.pool }, config.RECONCILE_EVERY_MIN, logger));
  }

  async function close(): Promise<void> {
    await Promise.all([...others, ...Object.values(loops)].map((loop) => loop.stop()));
    await receiver?.close?.();
    await gateway.close();
    await database.close();
  }
  return { ...parts, start, close };
}

/** Something to sell, so that a stranger can buy at once: one thing for each number of decimals. */
async function fillCatalogue({ prisma }: Database): Promise<void> {
  if ((await prisma.product.count()) === 0)
    await prisma.product.createMany({ data: demoProducts, skipDuplicates: true });
}
