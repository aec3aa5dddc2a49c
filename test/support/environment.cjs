const vm = require('node:vm');
const { TestEnvironment } = require('jest-environment-node');

// Jest compiles every module again for every test file. Here V8 takes what it compiled for an earlier one, by the text.
const modules = new Map();
const functions = new Map();
const { SourceTextModule, compileFunction } = vm;

vm.SourceTextModule = class extends SourceTextModule {
  constructor(code, options) {
    const cachedData = modules.get(code);
    super(code, { ...options, cachedData });
    if (cachedData === undefined) modules.set(code, this.createCachedData());
  }
};

vm.compileFunction = (code, parameters, options) => {
  const cachedData = functions.get(code);
  const isNew = cachedData === undefined;
  const compiled = compileFunction(code, parameters, { ...options, cachedData, produceCachedData: isNew });
  if (isNew) functions.set(code, compiled.cachedData);
  return compiled;
};

module.exports = TestEnvironment;
