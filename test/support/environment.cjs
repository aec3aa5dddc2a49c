const { AsyncLocalStorage } = require('node:async_hooks');
const { TestEnvironment } = require('jest-environment-node');

// Jest makes an AsyncLocalStorage for each file, and Node would carry each one along with every
// promise of all later files.
const stores = new Set();
const { run } = AsyncLocalStorage.prototype;
AsyncLocalStorage.prototype.run = function (...given) {
  stores.add(this);
  return run.apply(this, given);
};

module.exports = class extends TestEnvironment {
  async teardown() {
    await super.teardown();
    for (const store of stores) store.disable();
    stores.clear();
  }
};
