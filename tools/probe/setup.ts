import { join } from 'node:path';
import { ConfigError, type Config } from '../../src/config.ts';
import { runningSandbox } from '../../local/sandbox-services.ts';
import { startListener, type Listener } from './listener.ts';
import { SecretKey } from '../../src/gateway/secret-key.ts';
import { createLogger } from '../../src/platform/logger.ts';
import { logOn } from '../../src/platform/terminal.ts';
import { Secret } from '../../src/platform/secret.ts';
import { SANDBOX_TEST_KEY, SANDBOX_WEBHOOK_SECRET } from '../../local/sandbox/keys.ts';
import type { ProfileName } from '../../local/sandbox/profiles/all.ts';
import { startSandbox } from '../../local/sandbox/sandbox.ts';

/** The service that is probed, and an ear for its webhooks. */
export type ProbeSurroundings = {
  url: URL;
  key: SecretKey;
  secrets: readonly Secret[];
  /** Null: the service could not reach us. */
  listener: Listener | null;
  close(): Promise<void>;
};

/**
 * The configured service; without one, the sandbox of the server that runs beside us, or one of our own.
 * @throws {ConfigError} a live key
 */
export async function surroundingsOf(
  config: Config,
  profile: ProfileName | null,
  dataDir: string,
): Promise<ProbeSurroundings> {
  const { GATEWAY_URL, GATEWAY_SECRET_KEY, WEBHOOK_SECRETS, PUBLIC_URL, HOST, PORT } = config;
  if (GATEWAY_SECRET_KEY?.mode === 'live')
    throw new ConfigError([
      'GATEWAY_SECRET_KEY: the probe takes only test keys (sk_test_…), because it opens payments that nobody ordered',
    ]);
  if (profile !== null) return ownSandbox(profile);
  if (GATEWAY_URL !== undefined && GATEWAY_SECRET_KEY !== undefined) {
    const listener = PUBLIC_URL === null ? null : await startListener(HOST, PORT);
    const close = async (): Promise<void> => listener?.close();
    return { url: GATEWAY_URL, key: GATEWAY_SECRET_KEY, secrets: WEBHOOK_SECRETS, listener, close };
  }
  const running = await runningSandbox(join(dataDir, 'sandbox'), 0);
  if (running === null) return ownSandbox('plain');
  // Its webhooks belong to the server beside us: they are not taken away from it.
  return {
    url: new URL(running),
    key: GATEWAY_SECRET_KEY ?? new SecretKey(SANDBOX_TEST_KEY),
    secrets: [new Secret(SANDBOX_WEBHOOK_SECRET)],
    listener: null,
    close: () => Promise.resolve(),
  };
}

async function ownSandbox(profile: ProfileName): Promise<ProbeSurroundings> {
  const sandbox = await startSandbox({
    host: '127.0.0.1',
    port: 0,
    dataDir: null,
    logger: createLogger('warn', logOn(process.stderr, false)),
    webhook: { url: null, secret: SANDBOX_WEBHOOK_SECRET },
    profile,
  });
  const listener = await startListener('127.0.0.1', 0);
  sandbox.setWebhookUrl(`http://127.0.0.1:${listener.port}/webhooks/payments`);
  return {
    url: new URL(sandbox.url),
    key: new SecretKey(sandbox.testKey),
    secrets: [new Secret(sandbox.webhookSecret)],
    listener,
    close: async () => {
      await sandbox.close();
      await listener.close();
    },
  };
}
