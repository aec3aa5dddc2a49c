import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, expect, test } from '@jest/globals';
import { someOf } from '../support/extent.ts';
import { cleanUp, newFolder } from '../support/process.ts';

// `.ci/run` with an npm that does as it is told: whatever happens, its last line counts, and its exit code agrees.

const SCRIPT = fileURLToPath(new URL('../../.ci/run', import.meta.url));
const REPORT = { numPassedTests: 40, numFailedTests: 0, numRuntimeErrorTestSuites: 0 };
const WHOLE_REPORT = { ...REPORT, numPassedTests: 60 };

afterEach(cleanUp);

/** A line of shell for each step. The reports are what jest writes; null: nothing. */
type Steps = {
  ci?: string;
  check?: string;
  test?: string;
  all?: string;
  demo?: string;
  report?: object | null;
  wholeReport?: object | null;
};

async function run(steps: Steps) {
  const { report = REPORT, wholeReport = WHOLE_REPORT } = steps;
  const folder = await newFolder();
  mkdirSync(join(folder, '.ci'));
  mkdirSync(join(folder, 'bin'));
  cpSync(SCRIPT, join(folder, '.ci/run'));
  const writes = (counts: object | null): string =>
    counts === null ? 'true' : `echo '${JSON.stringify(counts)}' > "\${5#--outputFile=}"`;
  const npm = `#!/bin/sh
case "$1 $2" in
  "ci "*) ${steps.ci ?? 'true'} ;;
  "run check") ${steps.check ?? 'true'} ;;
  "run test") ${writes(report)}; ${steps.test ?? 'true'} ;;
  "run test:all") ${writes(wholeReport)}; ${steps.all ?? 'true'} ;;
  "run demo") ${steps.demo ?? 'true'} ;;
  *) echo "unexpected: npm $*"; exit 9 ;;
esac
`;
  writeFileSync(join(folder, 'bin/npm'), npm, { mode: 0o755 });
  const PATH = [join(folder, 'bin'), dirname(process.execPath), '/usr/bin', '/bin'].join(':');
  const { status, stdout, stderr } = spawnSync(join(folder, '.ci/run'), { env: { PATH }, encoding: 'utf8' });
  return { code: status, last: stdout.trimEnd().split('\n').at(-1), stderr };
}

const ENDS: [name: string, steps: Steps, last: string, says: RegExp][] = [
  ['a test fails', { test: 'exit 1', report: { ...REPORT, numFailedTests: 2 } }, '100 passed, 2 failed', /^/],
  [
    'a test file cannot be read',
    { test: 'exit 1', report: { ...REPORT, numRuntimeErrorTestSuites: 1 } },
    '100 passed, 1 failed',
    /^/,
  ],
  [
    'jest crashes',
    { test: 'exit 134', report: null },
    '60 passed, 1 failed',
    /ended with 134 and left no result/,
  ],
  ['jest says nothing and ends well', { report: null }, '60 passed, 1 failed', /left no result/],
  [
    'a test of the whole suite fails',
    { all: 'exit 1', wholeReport: { ...WHOLE_REPORT, numFailedTests: 3 } },
    '100 passed, 3 failed',
    /^/,
  ],
  [
    'the whole suite crashes',
    { all: 'exit 134', wholeReport: null },
    '40 passed, 1 failed',
    /npm run test:all/,
  ],
  [
    'jest fails behind the tests',
    { test: 'exit 1' },
    '100 passed, 1 failed',
    /every test passed, and .* ended with 1/,
  ],
  ['no test is found', { report: { ...REPORT, numPassedTests: 0 } }, '60 passed, 1 failed', /^/],
  ['the demo fails', { demo: 'exit 1' }, '100 passed, 1 failed', /^failed: npm run demo$/m],
  ['the check fails', { check: 'exit 2' }, '0 passed, 1 failed', /^failed: npm run check$/m],
  ['nothing can be installed', { ci: 'exit 1' }, '0 passed, 1 failed', /^failed: npm ci$/m],
];

test.each(someOf(ENDS, 4))('when %s, it ends with 1 and counts it', async (_name, steps, last, says) => {
  const end = await run(steps);
  expect(end).toEqual({ code: 1, last, stderr: expect.stringMatching(says) });
});

test('when all is well, it ends with 0', async () => {
  expect(await run({})).toEqual({ code: 0, last: '100 passed, 0 failed', stderr: '' });
});

test('what `npm test` leaves out, `npm run test:all` runs, and no test is in neither', () => {
  const root = fileURLToPath(new URL('../..', import.meta.url));
  const { jest, scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    jest: { testPathIgnorePatterns: string[] };
    scripts: Record<string, string>;
  };
  expect(jest.testPathIgnorePatterns).toEqual(['/node_modules/', '\\.all\\.test\\.tsx?$']);
  expect(scripts['test:all']).toMatch(
    /^TEST_ALL=1 .* --testPathIgnorePatterns \/node_modules\/ --filter \.\/test\/support\/left-out\.cjs --ci$/,
  );
  const leftOut = createRequire(import.meta.url)('../support/left-out.cjs') as (paths: string[]) => {
    filtered: string[];
  };
  const files = readdirSync(join(root, 'test'), { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.(tsx?|cjs)$/.test(file))
    .map((file) => join(root, 'test', file));
  const { filtered } = leftOut(files);
  expect(filtered.filter((file) => file.endsWith('.all.test.ts'))).toEqual(
    files.filter((file) => file.includes('.all.test.')),
  );
  // Who asks for the whole form is a test, so that the filter finds it: a part shared by tests would hide it.
  const asking = files.filter((file) =>
    /\/(extent|test-of-all)\.ts'|env\.TEST_ALL/.test(readFileSync(file, 'utf8')),
  );
  const shared = asking.filter((file) => !filtered.includes(file)).map((file) => file.slice(root.length));
  expect(shared.sort()).toEqual(['extent', 'test-of-all'].map((name) => `test/support/${name}.ts`));
});
