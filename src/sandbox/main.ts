import { parseArgs } from 'node:util';

import { PortTakenError } from '../platform/http-server.ts';
import { createLogger } from '../platform/logger.ts';
import { curlLines } from './curl-lines.ts';
import { SANDBOX_WEBHOOK_SECRET } from './keys.ts';
import { startSandbox, type Sandbox } from './sandbox.ts';

/* The stand-in alone, for whoever writes an integrator in another language or tries the calls by hand. */

const HELP = `npm run sandbox -- [options]

  --host <address>   where to listen (127.0.0.1)
  --port <number>    0 takes any free one (4010)
  --data <folder>    where the ledger is kept (.data/sandbox); "none" keeps nothing
  --webhook <url>    who is told of payments; nobody without it
  --latency <ms>     how long each answer waits (0)
`;

const { values } = parseArgs({
  options: {
    help: { type: 'boolean', default: false },
    host: { type: 'string', default: '127.0.0.1' },
    port: { type: 'string', default: '4010' },
    data: { type: 'string', default: '.data/sandbox' },
    webhook: { type: 'string' },
    latency: { type: 'string', default: '0' },
  },
});

if (values.help) process.stdout.write(HELP);
else await run();

async function run(): Promise<void> {
  try {
    const sandbox = await startSandbox({
      host: values.host,
      port: Number(values.port),
      dataDir: values.data === 'none' ? null : values.data,
      logger: createLogger('info'),
      webhook: { url: values.webhook ?? null, secret: SANDBOX_WEBHOOK_SECRET },
      latencyMs: Number(values.latency),
    });
    // Before the greeting: who has read it may send a signal at once.
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void sandbox.close());
    process.stdout.write(greeting(sandbox));
  } catch (error) {
    const isTaken = error instanceof PortTakenError;
    process.stderr.write(
      isTaken ? `port ${values.port} is taken: choose another with --port\n` : `${String(error)}\n`,
    );
    process.exitCode = 1;
  }
}

function greeting({ url, testKey, liveKey, webhookSecret }: Sandbox): string {
  const commands = curlLines(url, testKey).map(({ title, command }) => `# ${title}\n${command}\n`);
  return `
Payment sandbox   ${url}   (no real money)
test key          ${testKey}
live key          ${liveKey}
webhook secret    ${webhookSecret}

${commands.join('\n')}
`;
}
