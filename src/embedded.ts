import { join } from 'node:path';
import type { Config } from './config.ts';
import { SecretKey } from './gateway/secret-key.ts';
import { attachOrStartEmbeddedPostgres, startEmbeddedPostgres } from './platform/embedded-postgres.ts';
import { PortTakenError } from './platform/http-server.ts';
import type { Logger } from './platform/logger.ts';
import { Secret } from './platform/secret.ts';
import { SANDBOX_TEST_KEY, SANDBOX_WEBHOOK_SECRET } from './sandbox/keys.ts';
import { startSandbox } from './sandbox/sandbox.ts';

/** Where the database and the service are: as configured, or embedded parts that were started for it. */
export type Surroundings = {
  databaseUrl: Secret;
  gatewayUrl: URL;
  secretKey: SecretKey;
  webhookSecrets: readonly Secret[];
  /** The sandbox's own address, for people; null with a real service. */
  sandboxUrl: string | null;
  /** Tells the sandbox where we listen. Nothing to do with a real service. */
  receiveWebhooksAt(url: string): void;
  close(): Promise<void>;
};

export type SurroundingsOptions = {
  config: Config;
  /** Folder of everything embedded. */
  dataDir: string;
  /** The command we run, for the message to whoever wants the same folder. */
  purpose: string;
  /** A command beside the server uses the parts that the server runs; the server must have its own. */
  mayAttach: boolean;
  /** Port of the sandbox: fixed, so that checkout addresses outlive a restart. 0: any. */
  sandboxPort: number;
  logger: Logger;
};

/** Starts what the configuration leaves to us: an embedded PostgreSQL, a sandbox, both or none. */
export async function prepareSurroundings(options: SurroundingsOptions): Promise<Surroundings> {
  const { config } = options;
  const database = await databaseFor(options);
  const sandbox = await sandboxFor(options).catch(async (error: unknown) => {
    await database.stop();
    throw error;
  });
  return {
    databaseUrl: database.url,
    gatewayUrl: config.GATEWAY_URL ?? new URL(sandbox.url),
    secretKey: config.GATEWAY_SECRET_KEY ?? new SecretKey(SANDBOX_TEST_KEY),
    webhookSecrets: config.GATEWAY_URL ? config.WEBHOOK_SECRETS : [new Secret(SANDBOX_WEBHOOK_SECRET)],
    sandboxUrl: config.GATEWAY_URL ? null : sandbox.url,
    receiveWebhooksAt: sandbox.setWebhookUrl,
    close: async () => {
      await sandbox.close();
      await database.stop();
    },
  };
}

async function databaseFor(options: SurroundingsOptions): Promise<{ url: Secret; stop(): Promise<void> }> {
  const { config, dataDir, purpose, mayAttach, logger } = options;
  if (config.DATABASE_URL) return { url: config.DATABASE_URL, stop: () => Promise.resolve() };
  const start = mayAttach ? attachOrStartEmbeddedPostgres : startEmbeddedPostgres;
  const { url, stop } = await start({ dataDir, purpose, logger });
  return { url: new Secret(url), stop };
}

type SandboxHandle = { url: string; setWebhookUrl(url: string): void; close(): Promise<void> };

async function sandboxFor(options: SurroundingsOptions): Promise<SandboxHandle> {
  const { config, dataDir, mayAttach, sandboxPort, logger } = options;
  const elsewhere = { setWebhookUrl: () => undefined, close: () => Promise.resolve() };
  if (config.GATEWAY_URL) return { ...elsewhere, url: config.GATEWAY_URL.origin };
  try {
    return await startSandbox({
      host: '127.0.0.1',
      port: sandboxPort,
      dataDir: join(dataDir, 'sandbox'),
      logger: logger.child({ part: 'sandbox' }, { level: 'warn' }),
      extraKeys: config.GATEWAY_SECRET_KEY ? [config.GATEWAY_SECRET_KEY.reveal()] : [],
      webhook: { url: null, secret: SANDBOX_WEBHOOK_SECRET },
    });
  } catch (error) {
    // The server beside us runs it: its port is the one we would have taken.
    if (mayAttach && error instanceof PortTakenError)
      return { ...elsewhere, url: `http://127.0.0.1:${sandboxPort}` };
    throw error;
  }
}
