import '../src/config/env-file.ts';
import { localServices } from './backing-services.ts';

/**
 * What npm runs in a checkout: the server, the worker or a command, as in production, with a database and a
 * sandbox of its own where none is configured. Each is loaded only when it is asked for.
 */
const [what = '', ...rest] = process.argv.slice(2);
const services = localServices();

if (what === 'server') await (await import('../src/bootstrap/start-server.ts')).serve(services, rest);
else if (what === 'worker') await (await import('../src/bootstrap/start-worker.ts')).work(services, rest);
else await (await import('../src/commands/command-line.ts')).runCommandLine([what, ...rest], services);
