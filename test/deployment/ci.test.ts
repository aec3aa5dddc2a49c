import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, expect, test } from '@jest/globals';
import { cleanUp, newFolder } from '../support/process.ts';

// `.ci/run` with an npm that does as it is told: whatever happens, its last line counts, and its exit code agrees.

const SCRIPT = fileURLToPath(new URL('../../.ci/run', import.meta.url));
const REPORT = { numPassedTests: 40, numFailedTests: 0, numRuntimeErrorTestSuites: 0 };

afterEach(cleanUp);

type Steps = { ci?: string; check?: string; test?: string; demo?: string; report?: object | null };

/** Each step is a line of shell. `report`: what jest writes; null: nothing. */
async function run({ ci = 'true', check = 'true', test = 'true', demo = 'true', report = REPORT }: Steps) {
  const folder = await newFolder();
  mkdirSync(join(folder, '.ci'));
  mkdirSync(join(folder, 'bin'));
  cpSync(SCRIPT, join(folder, '.ci/run'));
  const writes = report === null ? 'true' : `echo '${JSON.stringify(report)}' > "\${5#--outputFile=}"`;
  const npm = `#!/bin/sh
case "$1 $2" in
  "ci "*) ${ci} ;;
  "run check") ${check} ;;
  "test --") ${writes}; ${test} ;;
  "run demo") ${demo} ;;
  *) echo "unexpected: npm $*"; exit 9 ;;
esac
`;
  writeFileSync(join(folder, 'bin/npm'), npm, { mode: 0o755 });
  const PATH = [join(folder, 'bin'), dirname(process.execPath), '/usr/bin', '/bin'].join(':');
  const { status, stdout, stderr } = spawnSync(join(folder, '.ci/run'), { env: { PATH }, encoding: 'utf8' });
  return { code: status, last: stdout.trimEnd().split('\n').at(-1), stderr };
}

test.each<[string, Steps, string, RegExp]>([
  ['a test fails', { test: 'exit 1', report: { ...REPORT, numFailedTests: 2 } }, '40 passed, 2 failed', /^/],
  [
    'a test file cannot be read',
    { test: 'exit 1', report: { ...REPORT, numRuntimeErrorTestSuites: 1 } },
    '40 passed, 1 failed',
    /^/,
  ],
  [
    'jest crashes',
    { test: 'exit 134', report: null },
    '0 passed, 1 failed',
    /ended with 134 and left no result/,
  ],
  ['jest says nothing and ends well', { report: null }, '0 passed, 1 failed', /left no result/],
  [
    'jest fails behind the tests',
    { test: 'exit 1' },
    '40 passed, 1 failed',
    /every test passed, and .* ended with 1/,
  ],
  ['no test is found', { report: { ...REPORT, numPassedTests: 0 } }, '0 passed, 1 failed', /^/],
  ['the demo fails', { demo: 'exit 1' }, '40 passed, 1 failed', /^failed: npm run demo$/m],
  ['the check fails', { check: 'exit 2' }, '0 passed, 1 failed', /^failed: npm run check$/m],
  ['nothing can be installed', { ci: 'exit 1' }, '0 passed, 1 failed', /^failed: npm ci$/m],
])('when %s, it ends with 1 and counts it', async (_name, steps, last, says) => {
  const end = await run(steps);
  expect(end).toEqual({ code: 1, last, stderr: expect.stringMatching(says) });
});

test('when all is well, it ends with 0', async () => {
  expect(await run({})).toEqual({ code: 0, last: '40 passed, 0 failed', stderr: '' });
});
