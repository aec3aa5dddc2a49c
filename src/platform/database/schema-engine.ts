/**
 * Prisma's schema engine as WebAssembly from npm: what `prisma migrate deploy` runs, without the binary that
 * the prisma command downloads from outside the registry.
 */
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { PrismaPg } from '@prisma/adapter-pg';
import {
  bindMigrationAwareSqlAdapterFactory,
  type SqlMigrationAwareDriverAdapterFactory,
} from '@prisma/driver-adapter-utils';
import * as bindings from '@prisma/schema-engine-wasm/schema_engine_bg';
import type pg from 'pg';
import { runScript } from './run-script.ts';

export type Migration = { name: string; sql: string };

export type SchemaEngine = {
  /**
   * Applies the migrations that the database lacks, and returns their names.
   * @throws {pg.DatabaseError} the database's error about a script
   * @throws {Error} the engine's error before it came to a script
   */
  apply(migrations: readonly Migration[]): Promise<string[]>;
  /** Records that a failed migration has left nothing, so that it may be tried again. */
  markRolledBack(name: string): Promise<void>;
  close(): void;
};

let loading: Promise<void> | undefined;

/** An engine on the connections of `pool`, which stays open. A process's first takes some 50 ms and 30 MB. */
export async function openSchemaEngine(pool: pg.Pool): Promise<SchemaEngine> {
  await (loading ??= loadEngine());
  let scriptError: unknown;
  const factory = wholeScripts(pool, (error) => (scriptError = error));
  const engine = await bindings.SchemaEngine.new(
    { datamodels: undefined },
    () => undefined,
    bindMigrationAwareSqlAdapterFactory(factory),
  );
  return {
    apply: async (migrations) => {
      try {
        const { appliedMigrationNames } = await engine.applyMigrations(engineInput(migrations));
        return appliedMigrationNames;
      } catch (error) {
        // The engine itself reports a failed script as "external error id#0".
        throw scriptError ?? error;
      }
    },
    markRolledBack: async (migrationName) => {
      await engine.markMigrationRolledBack({ migrationName });
    },
    close: () => {
      engine.free();
    },
  };
}

// The package's own entry imports the .wasm file as a module, which Node 20 cannot.
async function loadEngine(): Promise<void> {
  const require = createRequire(import.meta.url);
  const path = require.resolve('@prisma/schema-engine-wasm/schema_engine_bg').replace(/\.js$/, '.wasm');
  const imports: WebAssembly.ModuleImports = { ...bindings };
  for (const name of Object.keys(imports).filter((key) => key.startsWith('__wbg_setTimeout_'))) {
    // The engine never clears its guard against a lock held for 10 s, which would delay a command's end.
    imports[name] = (callback: () => void, ms: number) => setTimeout(callback, ms).unref();
  }
  const { instance } = await WebAssembly.instantiate(await readFile(path), {
    './schema_engine_bg.js': imports,
  });
  bindings.__wbg_set_wasm(instance.exports);
  (instance.exports as { __wbindgen_start(): void }).__wbindgen_start();
}

// The adapter splits a script at every semicolon, also inside function bodies and quoted text. Sent
// whole, as the engine's binary does it, a script is one implicit transaction.
function wholeScripts(
  pool: pg.Pool,
  onError: (error: unknown) => void,
): SqlMigrationAwareDriverAdapterFactory {
  const factory = new PrismaPg(pool);
  return {
    provider: factory.provider,
    adapterName: factory.adapterName,
    connectToShadowDb: () => factory.connectToShadowDb(),
    connect: async () => {
      const adapter = await factory.connect();
      adapter.executeScript = async (script) => {
        try {
          await runScript(pool, script);
        } catch (error) {
          onError(error);
          throw error;
        }
      };
      return adapter;
    },
  };
}

function engineInput(migrations: readonly Migration[]): bindings.ApplyMigrationsInput {
  return {
    filters: { externalTables: [], externalEnums: [] },
    migrationsList: {
      baseDir: '.',
      lockfile: { path: 'migration_lock.toml', content: 'provider = "postgresql"\n' },
      shadowDbInitScript: '',
      migrationDirectories: migrations.map(({ name, sql }) => ({
        path: name,
        migrationFile: { path: 'migration.sql', content: { tag: 'ok', value: sql } },
      })),
    },
  };
}
