import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BackingServices, PrepareOptions } from '../src/config/backing-services.ts';
import { SecretKey } from '../src/gateway/secret-key.ts';
import { sleep, systemClock } from '../src/platform/clock.ts';
import { isListening, PortTakenError } from '../src/platform/http-server.ts';
import { Secret } from '../src/platform/secret.ts';
import { UserFacingError } from '../src/platform/terminal.ts';
import { SANDBOX_TEST_KEY, SANDBOX_WEBHOOK_SECRET } from './sandbox/keys.ts';
import { startSandbox } from './sandbox/sandbox.ts';

/** The sandbox cannot be had. The message says what to do, so it can be shown as it is. */
export class SandboxError extends UserFacingError {
  constructor(message: string, cause?: unknown) {
    super(message, { cause });
    this.name = 'SandboxError';
  }
}

/** How long a command waits for the sandbox of a server that has just begun to start. */
const ATTACH_TIMEOUT_MS = 15_000;
const ATTACH_POLL_MS = 100;
/** File beside the ledger that tells commands where its sandbox listens. */
const ADDRESS_NOTE = 'address';

export type SandboxOptions = PrepareOptions & {
  dataDir: string;
  databaseUrl: Secret;
  /** Whether another living process has the data folder and runs the database in it. */
  isOfAnother: boolean;
};

/** The sandbox in place of the payment service: the one that the server beside us runs, or one of our own. */
export async function sandboxServices(options: SandboxOptions): Promise<BackingServices> {
  const { config, databaseUrl } = options;
  const sandbox = await sandboxFor(options);
  return {
    databaseUrl,
    gatewayUrl: new URL(sandbox.url),
    secretKey: config.GATEWAY_SECRET_KEY ?? new SecretKey(SANDBOX_TEST_KEY),
    webhookSecrets: [new Secret(SANDBOX_WEBHOOK_SECRET)],
    sandboxUrl: sandbox.url,
    receiveWebhooksAt: sandbox.setWebhookUrl,
    close: () => sandbox.close(),
  };
}

type SandboxHandle = { url: string; setWebhookUrl(url: string): void; close(): Promise<void> };

async function sandboxFor(options: SandboxOptions): Promise<SandboxHandle> {
  const { config, dataDir, attachIfRunning, isOfAnother } = options;
  const folder = join(dataDir, 'sandbox');
  // Where the server beside us put it, whatever PORT that was started with. If the folder is ours, none is running.
  const maybeRunning = attachIfRunning && (isOfAnother || config.DATABASE_URL !== undefined);
  const url = maybeRunning ? await runningSandbox(folder, isOfAnother ? ATTACH_TIMEOUT_MS : 0) : null;
  if (url !== null) return { url, setWebhookUrl: () => undefined, close: () => Promise.resolve() };
  if (isOfAnother)
    throw new SandboxError(
      `the process that has ${dataDir} runs no sandbox: set GATEWAY_URL here as it is set there`,
    );
  return runSandbox(options, folder);
}

async function runSandbox({ config, logger }: SandboxOptions, folder: string): Promise<SandboxHandle> {
  // Fixed, so that checkout addresses outlive a restart.
  const port = config.PORT === 0 || config.PORT === 65_535 ? 0 : config.PORT + 1;
  const sandbox = await startSandbox({
    host: '127.0.0.1',
    port,
    dataDir: folder,
    shopUrl: config.PUBLIC_URL?.href ?? `http://localhost:${config.PORT}/`,
    logger: logger.child({ part: 'sandbox' }, { level: 'warn' }),
    extraKeys: config.GATEWAY_SECRET_KEY ? [config.GATEWAY_SECRET_KEY.reveal()] : [],
    webhook: { url: null, secret: SANDBOX_WEBHOOK_SECRET },
  }).catch((error: unknown) => {
    if (error instanceof PortTakenError)
      throw new SandboxError(
        `the sandbox takes the port after PORT, and ${port} on 127.0.0.1 is taken by another program: stop it, or set PORT to another one`,
      );
    throw new SandboxError(
      `${(error as Error).message}: correct that, or set GATEWAY_URL to another service`,
      error,
    );
  });
  const note = join(folder, ADDRESS_NOTE);
  writeFileSync(note, sandbox.url);
  return {
    ...sandbox,
    close: async () => {
      rmSync(note, { force: true });
      await sandbox.close();
    },
  };
}

/** The address of the sandbox that another process runs on this folder, awaited for `patienceMs`. */
export async function runningSandbox(folder: string, patienceMs: number): Promise<string | null> {
  const deadline = systemClock.elapsedMs() + patienceMs;
  for (;;) {
    const url = readNote(join(folder, ADDRESS_NOTE));
    // A killed process leaves its note behind.
    if (url !== null && (await isListening(url))) return url.origin;
    if (systemClock.elapsedMs() >= deadline) return null;
    await sleep(ATTACH_POLL_MS);
  }
}

function readNote(path: string): URL | null {
  try {
    return new URL(readFileSync(path, 'utf8'));
  } catch {
    return null;
  }
}
