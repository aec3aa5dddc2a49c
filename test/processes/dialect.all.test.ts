import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, expect, test } from '@jest/globals';
import { parseDialect } from '../../src/gateway/dialect/dialect.ts';
import { cleanUp, newFolder, runProcess, type Outcome } from '../support/process.ts';

afterEach(cleanUp);

async function runWith(text: string, ...args: string[]): Promise<Outcome> {
  const cwd = await newFolder();
  await writeFile(join(cwd, 'ours.json'), text);
  return runProcess('src/commands/cli.ts', {
    cwd,
    args: ['dialect', ...args],
    env: { GATEWAY_DIALECT: 'ours.json' },
  });
}

test('the dialect in force is told key by key, each with its origin', async () => {
  const { code, stdout, stderr } = await runWith(
    '{"verify":{"amount":["/paid"]},"statuses":{"also":{"expired":["lapsed"]}},"webhook":{"signature":null}}',
  );
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout).toMatch(/^\/verify\/amount +file +\["\/paid"\]$/m);
  expect(stdout).toMatch(/^\/verify\/currency +default +\["\/currency","\/amount\/currency"\]$/m);
  expect(stdout).toMatch(/^\/statuses\/expired +default, file +\["expired","lapsed"\]$/m);
  expect(stdout).toMatch(/^\/webhook\/signature +file +null$/m);
  expect(stdout).toMatch(/^\/transfers +default +null$/m);
  expect(stdout).toMatch(/^file: ours\.json$/m);
});

test('as JSON it is a file that can be used again', async () => {
  const { stdout } = await runWith('{"amountUnit":"minor"}', '--json');
  expect(parseDialect(stdout).dialect).toEqual(parseDialect('{"amountUnit":"minor"}').dialect);
});

test('a bad file ends with 78, the place of the fault, and what is allowed there', async () => {
  const { code, stdout, stderr } = await runWith('{"verify":{"stauts":["/s"]},"amountUnit":"kobo"}');
  expect({ code, stdout }).toEqual({ code: 78, stdout: '' });
  expect(stderr).toContain(
    'GATEWAY_DIALECT: /verify/stauts: is no key of the dialect; allowed: record, reference, status',
  );
  expect(stderr).toContain('GATEWAY_DIALECT: /amountUnit: must be "major" or "minor"');
});
