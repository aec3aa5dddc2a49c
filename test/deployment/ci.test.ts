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
const NEXT_REPORT = { ...REPORT, numPassedTests: 60 };

afterEach(cleanUp);

/** A line of shell for each step. The report is what jest writes; null: nothing. */
type Steps = { ci?: string; check?: string; test?: string; report?: object | null };

/** An npm that does these steps and no other. */
function npmThat({ ci = 'true', check = 'true', test = 'true', report = REPORT }: Steps): string {
  const writes = report === null ? 'true' : `echo '${JSON.stringify(report)}' > "\${5#--outputFile=}"`;
  return `case "$1 $2" in
  "ci "*) ${ci} ;;
  "run check") ${check} ;;
  "run test") ${writes}; ${test} ;;
  *) echo "unexpected: npm $*"; exit 9 ;;
esac`;
}

/** @param next the steps in next/; null: there is no such folder */
async function run(here: Steps, next: Steps | null = {}) {
  const folder = await newFolder();
  mkdirSync(join(folder, '.ci'));
  mkdirSync(join(folder, 'bin'));
  if (next !== null) mkdirSync(join(folder, 'next'));
  cpSync(SCRIPT, join(folder, '.ci/run'));
  const npm = `#!/bin/sh
if [ "\${PWD##*/}" = next ]; then
${npmThat({ report: NEXT_REPORT, ...next })}
else
${npmThat(here)}
fi
`;
  writeFileSync(join(folder, 'bin/npm'), npm, { mode: 0o755 });
  const PATH = [join(folder, 'bin'), dirname(process.execPath), '/usr/bin', '/bin'].join(':');
  const { status, stdout, stderr } = spawnSync(join(folder, '.ci/run'), { env: { PATH }, encoding: 'utf8' });
  return { code: status, last: stdout.trimEnd().split('\n').at(-1), stderr };
}

const ENDS: [name: string, here: Steps, next: Steps | null, last: string, says: RegExp][] = [
  [
    'a test fails',
    { test: 'exit 1', report: { ...REPORT, numFailedTests: 2 } },
    {},
    '100 passed, 2 failed',
    /^/,
  ],
  [
    'a test file cannot be read',
    { test: 'exit 1', report: { ...REPORT, numRuntimeErrorTestSuites: 1 } },
    {},
    '100 passed, 1 failed',
    /^/,
  ],
  [
    'jest crashes',
    { test: 'exit 134', report: null },
    {},
    '60 passed, 1 failed',
    /\(here\) ended with 134 and left no result/,
  ],
  ['jest says nothing and ends well', { report: null }, {}, '60 passed, 1 failed', /left no result/],
  [
    'tests fail in both',
    { test: 'exit 1', report: { ...REPORT, numFailedTests: 2 } },
    { test: 'exit 1', report: { ...NEXT_REPORT, numFailedTests: 3 } },
    '100 passed, 5 failed',
    /^/,
  ],
  [
    'jest crashes in next/',
    {},
    { test: 'exit 134', report: null },
    '40 passed, 1 failed',
    /\(next\) ended with 134/,
  ],
  [
    'jest fails behind the tests',
    { test: 'exit 1' },
    {},
    '100 passed, 1 failed',
    /every test passed, and npm test \(here\) ended with 1/,
  ],
  ['no test is found', { report: { ...REPORT, numPassedTests: 0 } }, {}, '60 passed, 1 failed', /^/],
  ['the check fails', { check: 'exit 2' }, {}, '60 passed, 1 failed', /^failed in .*: npm run check$/m],
  ['nothing can be installed', { ci: 'exit 1' }, {}, '60 passed, 1 failed', /^failed in .*: npm ci$/m],
  [
    'the check fails in next/',
    {},
    { check: 'exit 2' },
    '40 passed, 1 failed',
    /^failed in next: npm run check$/m,
  ],
  [
    'nothing can be installed in either',
    { ci: 'exit 1' },
    { ci: 'exit 1' },
    '0 passed, 2 failed',
    /next: npm ci/,
  ],
  ['there is no next/', {}, null, '40 passed, 1 failed', /^failed in .*: cd next$/m],
];

test.each(someOf(ENDS, 4))('when %s, it ends with 1 and counts it', async (_name, here, next, last, says) => {
  const end = await run(here, next);
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
