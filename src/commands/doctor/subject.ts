import { fileURLToPath } from 'node:url';
import { MIGRATIONS } from '../../compose.ts';
import { gatewayOf } from '../../connections.ts';
import type { Config } from '../../config.ts';
import type { BackingServices } from '../../config/backing-services.ts';
import type { Extensions } from '../../extensions.ts';
import type { Gateway } from '../../gateway/gateway.ts';
import { openDatabase, type Database } from '../../platform/database/database.ts';
import { readApplied } from '../../platform/database/apply-migration.ts';
import { explainConnectionError } from '../../platform/database/address.ts';
import {
  compareHistory,
  readMigrations,
  readShopMigrations,
  type History,
} from '../../platform/database/migration-history.ts';
import type { Logger } from '../../platform/logger.ts';
import type { Mode } from '../../platform/mode.ts';
import { serverState, type ServerState } from './doctor.sql.ts';

/** What is examined. Nothing here migrates, works or writes. */
export type Subject = {
  config: Config;
  services: BackingServices;
  extensions: Extensions;
  mode: Mode;
  gateway: Gateway;
  database: Database;
  logger: Logger;
  /** What the database answered at first. */
  schema: Schema;
};

export type Schema =
  { outcome: 'away'; why: string } | { outcome: 'read'; server: ServerState; history: History };

export type SubjectParts = Pick<Subject, 'config' | 'services' | 'extensions'> & { logger: Logger };

/** Opens what is examined, whether or not anything answers. @returns it, and how to close it */
export async function openSubject(parts: SubjectParts): Promise<Subject & { close(): Promise<void> }> {
  const { config, services, extensions, logger } = parts;
  const database = openDatabase(services.databaseUrl, logger);
  const gateway = gatewayOf(parts, () => Promise.resolve());
  return {
    config,
    services,
    extensions,
    mode: gateway.mode,
    gateway,
    database,
    logger,
    schema: await readSchema(database, parts),
    close: async () => {
      await gateway.close();
      await database.close();
    },
  };
}

async function readSchema(database: Database, { services, extensions }: SubjectParts): Promise<Schema> {
  const ours = await readMigrations(MIGRATIONS);
  const theirs = await readShopMigrations(extensions.migrations && fileURLToPath(extensions.migrations));
  try {
    const server = await serverState(database);
    const history = compareHistory([...ours, ...theirs], await readApplied(database.sessions));
    return { outcome: 'read', server, history };
  } catch (error) {
    return { outcome: 'away', why: explainConnectionError(error, services.databaseUrl.reveal()).message };
  }
}

/** Whether the tables are those that this version asks. */
export function isSchemaComplete(schema: Schema): boolean {
  if (schema.outcome === 'away') return false;
  const { pending, unfinished, edited } = schema.history;
  return pending.length + unfinished.length + edited.length === 0;
}
