import { createApp } from './app.ts';
import { openProgram } from './compose.ts';
import { listen } from './http-server.ts';
import { isMain, runProcess, type Running } from './process.ts';

/**
 * Starts the server: the program, its port and, unless a separate worker runs them, the background
 * tasks.
 */
export async function startServer(): Promise<Running & { url: string }> {
  const program = await openProgram();
  const { config, logger } = program;
  let url = config.PUBLIC_URL?.origin ?? '';
  const app = createApp(program, () => url);
  const server = await listen(app, config.HOST, config.PORT);
  const address = `http://${config.HOST.includes(':') ? `[${config.HOST}]` : config.HOST}:${server.port}`;
  if (url === '') url = config.HOST === '127.0.0.1' ? `http://localhost:${server.port}` : address;
  program.start(config.WORKER === 'inline');
  logger.info({ url: address, mode: config.mode }, 'ready');
  return {
    logger,
    url,
    close: async () => {
      await server.close();
      await program.close();
    },
  };
}

if (isMain(import.meta.url)) await runProcess(startServer);
