import type { SecretKey } from '../gateway/secret-key.ts';
import { ConfigError, type Config } from '../config.ts';
import type { Logger } from '../platform/logger.ts';
import type { Secret } from '../platform/secret.ts';

/** Where the database and the payment service are. */
export type BackingServices = {
  databaseUrl: Secret;
  gatewayUrl: URL;
  secretKey: SecretKey;
  webhookSecrets: readonly Secret[];
  /** The address of the sandbox's pages for people; null with a real service. */
  sandboxUrl: string | null;
  /** Tells the sandbox where we listen. For a real service a person enters that address. */
  receiveWebhooksAt(url: string): void;
  /** Ends what was started for this process. */
  close(): Promise<void>;
};

export type PrepareOptions = {
  config: Config;
  /** The command that runs, for messages. */
  purpose: string;
  /** Whether it may use what a running server has started, as a command may; a server must have its own. */
  attachIfRunning: boolean;
  logger: Logger;
};

/** Finds or starts what a process needs beside it. @throws errors whose message says what to do */
export type PrepareBackingServices = (options: PrepareOptions) => Promise<BackingServices>;

/**
 * As in production: everything runs already, and the configuration says where.
 * @throws {ConfigError} when it does not
 */
export const configuredServices: PrepareBackingServices = ({ config }) => {
  const { DATABASE_URL, GATEWAY_URL, GATEWAY_SECRET_KEY, WEBHOOK_SECRETS } = config;
  if (!DATABASE_URL || !GATEWAY_URL || !GATEWAY_SECRET_KEY) {
    const missing = Object.entries({ DATABASE_URL, GATEWAY_URL, GATEWAY_SECRET_KEY }).filter(
      ([, given]) => !given,
    );
    const fault = 'is needed here; only npm start in a checkout brings a database and a sandbox of its own';
    return Promise.reject(new ConfigError(missing.map(([name]) => `${name}: ${fault}`)));
  }
  return Promise.resolve({
    databaseUrl: DATABASE_URL,
    gatewayUrl: GATEWAY_URL,
    secretKey: GATEWAY_SECRET_KEY,
    webhookSecrets: WEBHOOK_SECRETS,
    sandboxUrl: null,
    receiveWebhooksAt: () => undefined,
    close: () => Promise.resolve(),
  });
};
