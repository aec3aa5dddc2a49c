const { AsyncLocalStorage } = require('node:async_hooks');
const { TestEnvironment } = require('jest-environment-node');

// Jest makes a store for each file, which Node then carries along with every promise of all later files.
const stores = new Set();
const { run } = AsyncLocalStorage.prototype;
AsyncLocalStorage.prototype.run = function (...given) {
  stores.add(this);
  return run.apply(this, given);
};

/**
 * One global object for all test files of a worker, so that packages that are loaded once (`runtime.cjs`) and
 * the tests know the same `Error`. After each file, what the file has set is gone. A file that stops the clock
 * says `@jest-environment node`: the packages of other files may still have timers.
 */
class SharedEnvironment extends TestEnvironment {
  isShared = true;

  constructor(...given) {
    super(...given);
    this.fakeTimersModern.useFakeTimers = () => {
      throw new Error('a test file that stops the clock must begin with /** @jest-environment node */');
    };
    this.keep();
  }

  /** From now on this is what the next file finds. */
  keep() {
    this.kept = new Map(Reflect.ownKeys(this.global).map((key) => [key, this.descriptorOf(key)]));
    this.variables = { ...this.global.process.env };
  }

  async teardown() {
    this.fakeTimers.dispose();
    this.fakeTimersModern.dispose();
    for (const key of Reflect.ownKeys(this.global)) {
      if (!this.kept.has(key)) delete this.global[key];
    }
    for (const [key, descriptor] of this.kept) {
      if (descriptor.configurable) Object.defineProperty(this.global, key, descriptor);
      else if (descriptor.writable) this.global[key] = descriptor.value;
    }
    const { env } = this.global.process;
    for (const name of Object.keys(env)) delete env[name];
    Object.assign(env, this.variables);
    this._globalProxy.leftovers = [];
    for (const store of stores) store.disable();
    stores.clear();
  }

  descriptorOf(key) {
    return Object.getOwnPropertyDescriptor(this.global, key);
  }
}

let shared;

module.exports = class {
  constructor(...given) {
    return (shared ??= new SharedEnvironment(...given));
  }
};
