import express from 'express';
import { openProgram } from './compose.ts';
import { healthRoutes } from './health.ts';
import { listen } from './http-server.ts';
import { registry } from './alerts/metrics.ts';
import { isMain, runProcess, type Running } from './process.ts';

/** Starts a worker beside servers with WORKER=off. It runs checks, deadlines and messages. */
export async function startWorker(): Promise<Running> {
  const program = await openProgram();
  const { config, logger, database, gateway } = program;
  program.start(true);
  const app = express().use(healthRoutes(database, gateway));
  // The metrics have their own port, which shoppers cannot reach.
  app.get('/metrics', async (_req, res) => {
    res.type(registry.contentType).send(await registry.metrics());
  });
  const server = config.WORKER_PORT === null ? null : await listen(app, config.HOST, config.WORKER_PORT, 'WORKER_PORT');
  logger.info({ mode: config.mode }, 'worker ready');
  return {
    logger,
    close: async () => {
      await server?.close();
      await program.close();
    },
  };
}

if (isMain(import.meta.url)) await runProcess(startWorker);
