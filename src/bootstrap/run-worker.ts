import type { PrepareBackingServices } from '../config/backing-services.ts';
import { openProgram } from './open-program.ts';
import { runProcess, terminationSignal } from './run-process.ts';
import { startWorker, warnOf } from './start-worker.ts';

/** The process of `src/worker.ts`: the worker in a process of its own, beside servers with WORKER=off. */
export function work(prepare: PrepareBackingServices): Promise<void> {
  return runProcess(async (config) => {
    const stopped = terminationSignal();
    const { program, logger, close } = await openProgram(config, prepare, {
      purpose: 'npm run worker',
      logLevel: config.LOG_LEVEL,
      logTo: process.stdout,
      beforeOpening: (log) => {
        warnOf(config, log);
      },
    });
    const worker = startWorker(program);
    logger.info('worker is running');
    await stopped;
    await worker.stop();
    await close();
    return 0;
  });
}
