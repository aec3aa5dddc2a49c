// Tests are ES modules, as the program is; swc takes the types off and checks nothing (`npm run check` does).
export default {
  // `npm run test:all` runs what is left out here: the long ones.
  testMatch: ['<rootDir>/test/**/!(*.slow).test.ts'],
  extensionsToTreatAsEsm: ['.ts', '.tsx'],
  transform: {
    '\\.tsx?$': [
      '@swc/jest',
      {
        jsc: {
          target: 'es2023',
          parser: { syntax: 'typescript', tsx: true },
          transform: { react: { runtime: 'automatic', importSource: 'preact' } },
          experimental: { keepImportAttributes: true },
        },
        module: { type: 'es6' },
        swcrc: false,
      },
    ],
  },
  testEnvironment: './test/support/environment.cjs',
  globalSetup: './test/support/global-setup.ts',
  globalTeardown: './test/support/global-teardown.ts',
  // Each worker starts programs of its own, and waits for them.
  maxWorkers: 4,
  // A busy machine starts them slowly.
  testTimeout: 180_000,
};
