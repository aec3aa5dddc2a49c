import type { PrepareBackingServices } from '../config/backing-services.ts';
import { buildWorkerApp } from '../app.ts';
import { listen } from '../platform/http-server.ts';
import { isAnswered, usageText } from '../platform/usage.ts';
import { openProgram } from './open-program.ts';
import { runProcess, terminationSignal } from './run-process.ts';
import { startWorker, warnOf, type Worker } from './start-worker.ts';

const HELP = usageText('npm run worker', {
  does: 'The background work in a process of its own, beside servers with WORKER=off.',
  forms: [''],
  options: {},
  exits: '0 after Ctrl-C, 1 it could not start, 78 the configuration is wrong',
  example: '',
});

/**
 * The process of `src/worker.ts`: the worker in a process of its own, beside servers with WORKER=off.
 * @param args what was typed after the command: it takes no options
 */
export async function work(prepare: PrepareBackingServices, args: readonly string[]): Promise<void> {
  if (isAnswered(HELP, args)) return;
  await runProcess(async (config) => {
    const stopped = terminationSignal();
    const { program, logger, close } = await openProgram(config, prepare, {
      purpose: 'npm run worker',
      logLevel: config.LOG_LEVEL,
      logTo: process.stdout,
      beforeOpening: (log) => {
        warnOf(config, log);
      },
    });
    // Listens first: a port that is taken ends the process before it has begun any work.
    let worker: Worker | null = null;
    const app = buildWorkerApp(program, () => worker?.stuckLoop() ?? null);
    const { HOST, WORKER_PORT: port } = config;
    const http = port === undefined ? null : await listen(app, HOST, port, { variable: 'WORKER_PORT' });
    worker = startWorker(program);
    logger.info({ ...(http && { port: http.port }) }, 'worker is running');
    await stopped;
    await Promise.all([worker.stop(), http?.close()]);
    await close();
    return 0;
  });
}
