const { realpathSync } = require('node:fs');
const { join } = require('node:path');
const { pathToFileURL } = require('node:url');
const { default: Runtime } = require('jest-runtime');

/** These import nearly everything that the tests import. */
const PROGRAM = [
  'test/support/program.ts',
  'src/platform/prisma/client.ts',
  'node_modules/@prisma/adapter-pg/dist/index.mjs',
];
/** Packages, and our own modules, which keep nothing between two programs. */
const SHARED = ['node_modules', 'src', 'local'];

let program;

/** Loads the program and its packages once in each worker; what belongs to tests alone, each file loads anew. */
module.exports = class extends Runtime {
  constructor(...given) {
    super(...given);
    this.given = given;
  }

  async unstable_importModule(...what) {
    const [, environment] = this.given;
    if (environment.isShared) await this.adoptProgram();
    return super.unstable_importModule(...what);
  }

  async adoptProgram() {
    if (this.hasProgram) return;
    this.hasProgram = true;
    program ??= loadProgram(this.given);
    const { esm, cjs, sourceMaps } = await program;
    for (const [key, module] of esm) this.registries.esModuleRegistry.set(key, module);
    for (const [key, module] of cjs) this.registries.moduleRegistry.set(key, module);
    for (const [file, map] of sourceMaps) this.getSourceMaps().set(file, map);
  }
};

/** This runtime is never torn down, because a module may load another one later. */
async function loadProgram(given) {
  const runtime = new Runtime(...given);
  const [{ rootDir }, environment] = given;
  for (const path of PROGRAM) await runtime.unstable_importModule(join(rootDir, path));
  environment.keep();
  const { esModuleRegistry, moduleRegistry } = runtime.registries;
  // Modules of import are known by their URLs, those of require by their paths, and a link by where it leads.
  const folders = SHARED.map((folder) => join(realpathSync(join(rootDir, folder)), '/')).flatMap((path) => [
    path,
    pathToFileURL(path).href,
  ]);
  const shared = (registry) =>
    [...registry].filter(([key]) => folders.some((folder) => key.startsWith(folder)));
  const [esm, cjs] = [shared(esModuleRegistry), shared(moduleRegistry)];
  if (esm.length === 0 || cjs.length === 0)
    throw new Error('jest names its modules otherwise now: each test file would load the program anew');
  return { esm, cjs, sourceMaps: [...runtime.getSourceMaps()] };
}
