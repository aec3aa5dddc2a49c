import { PrismaPg } from '@prisma/adapter-pg';
import { bindMigrationAwareSqlAdapterFactory, ColumnTypeEnum } from '@prisma/driver-adapter-utils';
import * as bindings from '@prisma/schema-engine-wasm/schema_engine_bg';
import type { EventEmitter } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import pg from 'pg';
import { UserFacingError } from '../src/platform/user-facing-error.ts';

type Imports = Record<string, unknown>;
// Node's types do not include it.
declare const WebAssembly: {
  instantiate(bytes: Uint8Array, imports: Record<string, Imports>): Promise<{ instance: { exports: unknown } }>;
};

let loading: Promise<void> | undefined;

/**
 * Prisma's own schema engine, which `prisma migrate` runs, as WebAssembly from npm. Its interface
 * is not documented.
 */
async function openSchemaEngine(url: string): Promise<{ engine: bindings.SchemaEngine; close(): Promise<void> }> {
  await (loading ??= loadEngine());
  const pool = new pg.Pool({ connectionString: url, max: 1 });
  pool.on('connect', renameChar);
  const factory = bindMigrationAwareSqlAdapterFactory(restoreChar(new PrismaPg(pool)));
  const engine = await bindings.SchemaEngine.new({ datamodels: undefined }, () => undefined, factory);
  return {
    engine,
    close: async () => {
      engine.free();
      await pool.end();
    },
  };
}

/**
 * The SQL that `prisma migrate dev` would write for this schema, without its warnings about lost
 * data. The engine gives these warnings only after migrating a database of its own, which it cannot
 * do in WebAssembly.
 * @param databaseUrl a database with all migrations applied
 * @throws {UserFacingError} if the schema is not valid
 */
export async function stepsTo(databaseUrl: string, schema: string): Promise<string> {
  const { engine, close } = await openSchemaEngine(databaseUrl);
  const files = [{ path: 'schema.prisma', content: schema }];
  try {
    const { stdout } = await engine.diff({
      from: { tag: 'schemaDatasource', files, configDir: '.' },
      to: { tag: 'schemaDatamodel', files },
      script: true,
      exitCode: null,
      filters: { externalTables: [], externalEnums: [] },
    });
    return stdout ?? '';
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new UserFacingError(`prisma/schema.prisma cannot be used: ${reason}`);
  } finally {
    await close();
  }
}

/** Whether the script has no statements. */
export function isEmptyScript(script: string): boolean {
  return /^-- This is an empty migration\.\s*$/.test(script);
}

/*
 * PostgreSQL's catalogue has columns of the type "char". adapter-pg rejects this type, and the
 * engine requires it. After their values were read, the columns are declared as arrays of "char",
 * which adapter-pg knows. The result gets the original type again.
 */
const [CHAR, CHAR_ARRAY] = [18, 1002];

function renameChar(client: pg.PoolClient): void {
  const { connection } = client as unknown as { connection: EventEmitter };
  connection.on('rowDescription', ({ fields }: { fields: pg.FieldDef[] }) => {
    for (const field of fields) if (field.dataTypeID === CHAR) field.dataTypeID = CHAR_ARRAY;
  });
}

function restoreChar(factory: PrismaPg): PrismaPg {
  const connect = factory.connect.bind(factory);
  factory.connect = async () => {
    const adapter = await connect();
    const queryRaw = adapter.queryRaw.bind(adapter);
    adapter.queryRaw = async (query) => {
      const { columnTypes, ...rest } = await queryRaw(query);
      const { CharacterArray, Character } = ColumnTypeEnum;
      return { ...rest, columnTypes: columnTypes.map((type) => (type === CharacterArray ? Character : type)) };
    };
    return adapter;
  };
  return factory;
}

// The package's own entry imports the .wasm file as a module, which Node 20 does not support.
async function loadEngine(): Promise<void> {
  const require = createRequire(import.meta.url);
  const path = require.resolve('@prisma/schema-engine-wasm/schema_engine_bg').replace(/\.js$/, '.wasm');
  const imports: Imports = { ...bindings };
  // The engine never clears its timer against a lock that is held for 10 s, and the timer would
  // keep jest waiting.
  for (const name of Object.keys(imports).filter((key) => key.startsWith('__wbg_setTimeout_')))
    imports[name] = (callback: () => void, ms: number) => setTimeout(callback, ms).unref();
  const { instance } = await WebAssembly.instantiate(await readFile(path), { './schema_engine_bg.js': imports });
  bindings.__wbg_set_wasm(instance.exports);
  (instance.exports as { __wbindgen_start(): void }).__wbindgen_start();
}
