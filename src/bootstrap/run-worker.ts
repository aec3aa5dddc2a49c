import type { PrepareBackingServices } from '../config/backing-services.ts';
import { compose } from '../compose.ts';
import { EXTENSIONS } from '../custom/index.ts';
import { createLogger } from '../platform/logger.ts';
import { openTracing } from '../platform/tracing/open-tracing.ts';
import { runProcess, terminationSignal } from './run-process.ts';
import { startWorker, warnOf } from './start-worker.ts';

/** The process of `src/worker.ts`: the worker in a process of its own, beside servers with WORKER=off. */
export function work(prepare: PrepareBackingServices): Promise<void> {
  return runProcess(async (config) => {
    const stopped = terminationSignal();
    const tracing = await openTracing(config.tracing, () => logger);
    const logger = createLogger(config.LOG_LEVEL, process.stdout, tracing?.logFields);
    warnOf(config, logger);
    const services = await prepare({ config, purpose: 'npm run worker', attachIfRunning: true, logger });
    const publicOrigin = (): string => config.PUBLIC_URL?.origin ?? `http://localhost:${config.PORT}`;
    const program = await compose({
      config,
      services,
      publicOrigin,
      logger,
      tracing,
      extensions: EXTENSIONS,
    });
    const worker = startWorker(program);
    logger.info('worker is running');
    await stopped;
    await worker.stop();
    await program.close();
    await services.close();
    await tracing?.close();
    return 0;
  });
}
