import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { PrismaPg } from '@prisma/adapter-pg';
import { bindMigrationAwareSqlAdapterFactory } from '@prisma/driver-adapter-utils';
import * as bindings from '@prisma/schema-engine-wasm/schema_engine_bg';
import type pg from 'pg';

let loading: Promise<void> | undefined;

/** Prisma's own schema engine, what `prisma migrate` runs, as WebAssembly from npm. The pool stays open. */
export async function openSchemaEngine(pool: pg.Pool): Promise<bindings.SchemaEngine> {
  await (loading ??= loadEngine());
  const factory = bindMigrationAwareSqlAdapterFactory(new PrismaPg(pool));
  return bindings.SchemaEngine.new({ datamodels: undefined }, () => undefined, factory);
}

// The package's own entry imports the .wasm file as a module, which Node 20 cannot.
async function loadEngine(): Promise<void> {
  const require = createRequire(import.meta.url);
  const path = require.resolve('@prisma/schema-engine-wasm/schema_engine_bg').replace(/\.js$/, '.wasm');
  const imports: WebAssembly.ModuleImports = { ...bindings };
  for (const name of Object.keys(imports).filter((key) => key.startsWith('__wbg_setTimeout_'))) {
    // The engine never clears its guard against a lock held for 10 s, which would keep jest waiting.
    imports[name] = (callback: () => void, ms: number) => setTimeout(callback, ms).unref();
  }
  const { instance } = await WebAssembly.instantiate(await readFile(path), {
    './schema_engine_bg.js': imports,
  });
  bindings.__wbg_set_wasm(instance.exports);
  (instance.exports as { __wbindgen_start(): void }).__wbindgen_start();
}
