import { OWN } from './own.ts';
import { startServer } from './start-server.ts';
import { DATA_DIR, runProcess, terminationSignal } from './run.ts';

/** `npm start`: migrations, server, and by default the worker, an embedded PostgreSQL and the sandbox. */
await runProcess(async (config) => {
  const stopped = terminationSignal();
  const server = await startServer({ config, dataDir: DATA_DIR, purpose: 'npm start', own: OWN });
  process.stdout.write(server.greeting);
  await stopped;
  await server.stop();
  return 0;
});
