import { compose } from '../compose.ts';
import type { Config } from '../config.ts';
import type { PrepareBackingServices } from '../config/backing-services.ts';
import { EXTENSIONS } from '../custom/index.ts';
import { createLogger, type Logger } from '../platform/logger.ts';
import { logOn, type Screen } from '../platform/terminal.ts';
import type { TracingSettings } from '../platform/tracing/settings.ts';
import type { Tracing } from '../platform/tracing/tracing.ts';
import type { Program } from '../program.ts';

type OpenedProgram = {
  program: Program;
  logger: Logger;
  /** Closes the program and what it stands on. */
  close(): Promise<void>;
};

type OpenOptions = {
  /** Who asks for backing services, as their messages name it. */
  purpose: string;
  logLevel: string;
  logTo: Screen;
  /** Called first, with what must be said even where the database is away. */
  beforeOpening?: (logger: Logger) => void;
};

/** Opens backing services and the program on them, for a process without a port: the worker, a command. */
export async function openProgram(
  config: Config,
  prepare: PrepareBackingServices,
  { purpose, logLevel, logTo, beforeOpening }: OpenOptions,
): Promise<OpenedProgram> {
  const tracing = await openTracing(config.tracing, () => logger);
  const logger = createLogger(logLevel, logOn(logTo, config.production), tracing?.logFields);
  beforeOpening?.(logger);
  const services = await prepare({ config, purpose, attachIfRunning: true, logger });
  const closeServices = async (): Promise<void> => {
    await services.close();
    await tracing?.close();
  };
  const publicOrigin = (): string => config.PUBLIC_URL?.origin ?? `http://localhost:${config.PORT}`;
  try {
    const extensions = EXTENSIONS;
    const program = await compose({ config, services, publicOrigin, logger, tracing, extensions });
    return { program, logger, close: () => program.close().finally(closeServices) };
  } catch (error) {
    await closeServices();
    throw error;
  }
}

/**
 * Loads OpenTelemetry if the standard variables ask for it.
 * @param logger called when there is something to log: its lines carry the fields that tracing adds
 * @returns null without settings: nothing is loaded then
 */
export async function openTracing(
  settings: TracingSettings | null,
  logger: () => Logger,
): Promise<Tracing | null> {
  if (settings === null) return null;
  const { createTracing } = await import('../platform/tracing/sdk.ts');
  return createTracing(settings, (reason) => {
    if (reason === null) logger().info('traces are delivered again');
    else logger().warn({ reason }, 'traces cannot be delivered: they are lost, and nothing else is');
  });
}
