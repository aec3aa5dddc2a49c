import {
  configuredServices,
  type BackingServices,
  type PrepareBackingServices,
  type PrepareOptions,
} from '../src/config/backing-services.ts';
import { Secret } from '../src/platform/secret.ts';

/**
 * Folder of everything embedded, in the checkout: beside the code, so that a stranger finds it and may delete
 * it.
 */
export const DATA_DIR = '.data';

type LocalOptions = PrepareOptions & { dataDir: string };

type DatabaseHandle = {
  url: Secret;
  /** Whether another living process has our data folder and runs the database in it. */
  isOfAnother: boolean;
  stop(): Promise<void>;
};

/**
 * Starts what the configuration leaves to us: an embedded PostgreSQL, a sandbox, both or none.
 * @param dataDir folder of everything embedded
 * @throws errors of the embedded parts, whose messages say what to do
 */
export function localServices(dataDir: string = DATA_DIR): PrepareBackingServices {
  return (options) => prepare({ ...options, dataDir });
}

async function prepare(options: LocalOptions): Promise<BackingServices> {
  const database = await databaseFor(options);
  const services = await servicesOn(options, database).catch(async (error: unknown) => {
    await database.stop();
    throw error;
  });
  return {
    ...services,
    close: async () => {
      await services.close();
      await database.stop();
    },
  };
}

async function servicesOn(options: LocalOptions, database: DatabaseHandle): Promise<BackingServices> {
  const { config } = options;
  if (config.GATEWAY_URL)
    return configuredServices({ ...options, config: { ...config, DATABASE_URL: database.url } });
  // Beside a real service none of it is needed, and it is a fifth of what a command loads.
  const { sandboxServices } = await import('./sandbox-services.ts');
  return sandboxServices({ ...options, databaseUrl: database.url, isOfAnother: database.isOfAnother });
}

async function databaseFor(options: LocalOptions): Promise<DatabaseHandle> {
  const { config, dataDir, purpose, attachIfRunning, logger } = options;
  if (config.DATABASE_URL)
    return { url: config.DATABASE_URL, isOfAnother: false, stop: () => Promise.resolve() };
  const { attachOrStartEmbeddedPostgres, startEmbeddedPostgres } =
    await import('./postgres/embedded-postgres.ts');
  const start = attachIfRunning ? attachOrStartEmbeddedPostgres : startEmbeddedPostgres;
  const { url, owned, stop } = await start({ dataDir, purpose, logger });
  return { url: new Secret(url), isOfAnother: !owned, stop };
}
