import { PortTakenError } from '../../src/platform/http-server.ts';
import { createLogger } from '../../src/platform/logger.ts';
import { logOn } from '../../src/platform/terminal.ts';
import { curlLines } from './curl-lines.ts';
import { HELP, readFlags, type Flags } from './flags.ts';
import { SANDBOX_WEBHOOK_SECRET } from './keys.ts';
import { PROFILES } from './profiles/all.ts';
import { startSandbox, type Sandbox } from './sandbox.ts';

/* The stand-in alone, for whoever writes an integrator in another language or tries the calls by hand. */

/** The exit code of a command that was called wrongly (EX_USAGE of sysexits.h). */
const EXIT_USAGE = 64;

const flags = readFlags(process.argv.slice(2));
if (flags === 'help') process.stdout.write(HELP);
else if (Array.isArray(flags)) {
  process.stderr.write(`${flags.join('\n')}\n\n${HELP}`);
  process.exitCode = EXIT_USAGE;
} else await run(flags);

async function run({ host, port, data, profile, webhookUrl, latencyMs }: Flags): Promise<void> {
  try {
    const sandbox = await startSandbox({
      host,
      port,
      dataDir: data,
      profile,
      logger: createLogger('info', logOn(process.stdout, false)),
      webhook: { url: webhookUrl, secret: SANDBOX_WEBHOOK_SECRET },
      latencyMs,
    });
    // Before the greeting: who has read it may send a signal at once.
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void sandbox.close());
    process.stdout.write(greeting(sandbox, profile, webhookUrl));
  } catch (error) {
    const isTaken = error instanceof PortTakenError;
    process.stderr.write(
      isTaken ? `port ${port} is taken: choose another with --port\n` : `${(error as Error).message}\n`,
    );
    process.exitCode = 1;
  }
}

function greeting(
  { url, testKey, liveKey, webhookSecret }: Sandbox,
  profile: Flags['profile'],
  webhookUrl: string | null,
): string {
  const commands = curlLines(url, testKey, PROFILES[profile]).map(
    ({ title, command }) => `# ${title}\n${command}\n`,
  );
  return `
Payment sandbox   ${url}   (no real money; its ledger, its faults and a reset are on this page)
plays             ${profile}: ${PROFILES[profile].kind}
test key          ${testKey}
live key          ${liveKey}
webhooks to       ${webhookUrl ?? 'nobody: --webhook-url, or POST /sandbox/webhooks'}
webhook secret    ${webhookSecret}

${commands.join('\n')}
`;
}
