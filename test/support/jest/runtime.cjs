const { join } = require('node:path');
const { default: Runtime } = require('jest-runtime');

/** These import nearly everything that the tests import. */
const PROGRAM = [
  'test/support/program.ts',
  'src/platform/prisma/client.ts',
  'node_modules/@prisma/adapter-pg/dist/index.mjs',
];
/** These keep what is set for the whole process. */
const SINGLE = '/node_modules/@opentelemetry/';

let packages;

/** Loads the packages of the program once in each worker. In each file it took two thirds of the file's start. */
module.exports = class extends Runtime {
  constructor(...given) {
    super(...given);
    this.given = given;
  }

  async unstable_importModule(...what) {
    const [, environment] = this.given;
    if (environment.isShared) await this.adoptPackages();
    return super.unstable_importModule(...what);
  }

  async adoptPackages() {
    packages ??= loadPackages(this.given);
    const { esm, cjs } = await packages;
    for (const [key, module] of esm) this.registries.esModuleRegistry.set(key, module);
    for (const [key, module] of cjs) this.registries.moduleRegistry.set(key, module);
  }
};

/** This runtime is never torn down, because a package may load a part of itself later. */
async function loadPackages(given) {
  const runtime = new Runtime(...given);
  const [config, environment] = given;
  for (const path of PROGRAM) await runtime.unstable_importModule(join(config.rootDir, path));
  environment.keep();
  const { esModuleRegistry, moduleRegistry } = runtime.registries;
  const ofPackages = (registry) =>
    [...registry].filter(([key]) => key.includes('/node_modules/') && !key.includes(SINGLE));
  return { esm: ofPackages(esModuleRegistry), cjs: ofPackages(moduleRegistry) };
}
