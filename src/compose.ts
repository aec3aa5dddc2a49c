import { ConfigError, loadConfig, type Config } from './config.ts';
import { catalogue } from './custom/catalogue.ts';
import demoProducts from './custom/demo-products.json' with { type: 'json' };
import { createReceiver } from './custom/fulfilment.ts';
import { retain } from './payments/retention.ts';
import { receiverAt, startDeliveryLoop, type Receiver } from './fulfilment/deliver.ts';
import type { ServiceAdapter } from './gateway/adapter.ts';
import { createGateway } from './gateway/gateway.ts';
import { loadAdapter, versionOfAdapter } from './load-adapter.ts';
import { createConfirm } from './payments/confirm.ts';
import { startDueLoop } from './payments/due.ts';
import { endOverdue } from './payments/end.ts';
import { startReconciliation } from './reconciliation/schedule.ts';
import { openDatabase, type Database } from './platform/db.ts';
import { createLogger, type Logger } from './platform/logger.ts';
import { startLoop, type Loop } from './platform/loop.ts';
import { watchDatabase } from './alerts/metrics.ts';
import { createNotes, type Notes } from './alerts/notes.ts';
import { startAlerts } from './alerts/pass.ts';
import { caseSentences } from './reporting/words.ts';
import { grantRights } from './platform/grants.ts';
import { applyMigrations } from './platform/migrate.ts';

/** All parts of the program, assembled once per process. */
export type Program = Awaited<ReturnType<typeof openProgram>>;

const DEADLINES_EVERY_MS = 5_000;
const DAY_MS = 86_400_000;

/**
 * Applies the migrations and opens all parts.
 * @throws {ConfigError} if the configuration is wrong
 */
export async function openProgram(config: Config = loadConfig()) {
  const { mode } = config;
  const logger = createLogger(config.LOG_LEVEL);
  for (const warning of config.warnings) logger.warn(warning);
  const adapter = await loadAdapter(config.GATEWAY_ADAPTER);
  refuseUnusedSecrets(config, adapter);
  const direct = config.DATABASE_DIRECT_URL;
  const applied = await applyMigrations(direct.reveal());
  if (applied.length > 0) logger.info({ applied }, 'migrations applied');
  await grantRights(config.DATABASE_URL.reveal(), direct.reveal());
  const database = openDatabase(config.DATABASE_URL, { direct });
  const { prisma } = database;
  if (!config.production) await fillCatalogue(database);
  watchDatabase(prisma, mode);
  const note = createNotes(prisma, mode, logger);
  const gateway = createGateway(await gatewayOptions(config, adapter, note, logger));
  const receiver = openReceiver(config, logger);
  const wanted = { types: new Set<string>(config.FULFILMENT_EVENTS) };
  const policy = { mode, payableDays: adapter.payableDays, lagMin: adapter.history.lagMin, wanted };
  const loops: Loops = { others: [] };
  // A payment or a message may be due now, so the loops of this process check at once.
  const onDue = (): void => loops.due?.wake();
  const onMessage = (): void => loops.messages?.wake();
  const confirm = createConfirm({ prisma, gateway, policy, logger, onMessage });
  const opened = { config, logger, database, prisma, gateway, catalogue, policy, note };
  const parts = { ...opened, confirm, onDue, onMessage, hasReceiver: receiver !== null };
  return {
    ...parts,
    /** Starts the alerts and, in a worker, the background tasks. Call it once. */
    start: (isWorker: boolean): void => {
      startLoops(parts, loops, receiver, isWorker);
    },
    close: async (): Promise<void> => {
      const { due, messages, others } = loops;
      const running = [due, messages, ...others].filter((loop) => loop !== undefined);
      await Promise.all(running.map((loop) => loop.stop()));
      await receiver?.close?.();
      await gateway.close();
      await database.close();
    },
  };
}

/**
 * If nothing checked the signatures, every webhook would be accepted although secrets are
 * configured.
 */
function refuseUnusedSecrets({ WEBHOOK_SECRETS }: Config, { webhook }: ServiceAdapter): void {
  if (WEBHOOK_SECRETS.length === 0 || webhook.signature !== null) return;
  throw new ConfigError([
    'WEBHOOK_SECRETS: is set, but webhook.signature of the adapter is null, so no signature would be checked. ' +
      'Define the signature in the adapter, or leave WEBHOOK_SECRETS empty',
  ]);
}

async function gatewayOptions(
  config: Config,
  adapter: ServiceAdapter,
  note: Notes,
  logger: Logger,
): Promise<Parameters<typeof createGateway>[0]> {
  const adapterVersion = await versionOfAdapter(config.GATEWAY_ADAPTER, adapter);
  return {
    url: config.GATEWAY_URL,
    key: config.GATEWAY_SECRET_KEY,
    mode: config.mode,
    checkoutHosts: config.CHECKOUT_HOSTS,
    callsPerSecond: config.GATEWAY_CALLS_PER_SECOND,
    concurrency: config.GATEWAY_CONCURRENCY,
    adapter,
    adapterVersion,
    onAdapterFault: ({ member, message }) => {
      note('adapter-fault', { member, message, version: adapterVersion }, member);
    },
    logger,
  };
}

type ClosableReceiver = Receiver & { close?(): Promise<void> };

/**
 * The shop's own function, or its system behind FULFILMENT_URL. Null if this process delivers
 * nothing.
 */
function openReceiver(config: Config, logger: Logger): ClosableReceiver | null {
  const receiver: ClosableReceiver | null =
    createReceiver() ?? receiverAt(config.FULFILMENT_URL, config.FULFILMENT_SECRET);
  if (receiver === null && config.production && config.mode === 'live')
    logger.warn('FULFILMENT_URL: is not set here, so this process announces no paid order to your own system');
  return receiver;
}

type Loops = { due?: Loop; messages?: Loop; others: Loop[] };
type LoopParts = Omit<Program, 'start' | 'close'>;

/**
 * Starts the alerts and, in a worker, checks, deadlines, messages, retention and reconciliation.
 */
function startLoops(parts: LoopParts, loops: Loops, receiver: Receiver | null, isWorker: boolean): void {
  const { config, logger, prisma, gateway } = parts;
  const sentences = (ids: bigint[]) => caseSentences(prisma, ids, config.SHOP_TIME_ZONE);
  loops.others.push(startAlerts({ prisma, gateway, logger, caseSentences: sentences }, config));
  if (!isWorker) return;
  loops.due = startDueLoop(parts, logger);
  if (receiver !== null) loops.messages = startDeliveryLoop(prisma, config.mode, receiver, logger);
  const repeat = (name: string, everyMs: number, work: () => Promise<unknown>): void => {
    loops.others.push(startLoop(name, () => work().then(() => false), everyMs, logger));
  };
  repeat('deadlines', DEADLINES_EVERY_MS, () => endOverdue(parts));
  repeat('retention', DAY_MS, () => retain(prisma, config));
  loops.others.push(startReconciliation(parts, config.RECONCILE_EVERY_MIN, logger));
}

/** Adds demo products, so that a new user can buy at once: one for each number of decimals. */
async function fillCatalogue({ prisma }: Database): Promise<void> {
  if ((await prisma.product.count()) === 0)
    await prisma.product.createMany({ data: demoProducts, skipDuplicates: true });
}
