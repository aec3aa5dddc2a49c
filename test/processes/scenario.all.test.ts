import { afterEach, expect, test } from '@jest/globals';
import { cleanUp, newFolder, processesIn, runProcess } from '../support/process.ts';

afterEach(cleanUp);

test('a scenario is rehearsed by its name, beside whatever the configuration says, and ends with 0', async () => {
  const cwd = await newFolder();
  const env = { PORT: '3', DATABASE_URL: 'postgres://nobody@127.0.0.1:1/not-mine' };
  const { code, stdout, stderr } = await runProcess('tools/scenarios/main.ts', {
    cwd,
    env,
    args: ['pay-less'],
  });
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout).toContain('pay-less: Pays less');
  expect(stdout).toMatch(/ended +review, released 0 times, underpaid in suspense, underpaid raised +right/);
  expect(stdout).toMatch(/Every rehearsal ended as it should\.\n$/);
  expect(processesIn(cwd)).toEqual([]);
});

const CALLS: [code: number, args: string[], says: RegExp][] = [
  [64, ['no-such-fault'], /there is no fault named no-such-fault/],
  [0, ['--list'], /answer-cut +Answers are cut off/],
  [64, ['--al'], /Unknown option '--al'/],
  [64, [], /--list/],
  [0, ['--help'], /--list/],
];

test.each(CALLS)('ends with %d when called with %j', async (expected, args, says) => {
  const { code, stdout, stderr } = await runProcess('tools/scenarios/main.ts', {
    cwd: await newFolder(),
    args,
  });
  expect(code).toBe(expected);
  expect(stdout + stderr).toMatch(says);
});
