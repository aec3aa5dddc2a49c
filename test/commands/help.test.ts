import { readFileSync } from 'node:fs';
import { afterEach, expect, test } from '@jest/globals';
import { COMMANDS as OURS, usageOf } from '../../src/commands/commands.ts';
import { usageText } from '../../src/platform/usage.ts';
import { IS_WHOLE } from '../support/extent.ts';
import { cleanUp, newFolder, runProcess } from '../support/process.ts';

afterEach(cleanUp);

const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as { scripts: Record<string, string> };
/** Of Prisma, Jest and npm: they answer `--help` by themselves. */
const OF_OTHERS = ['postinstall', 'test', 'test:all', 'sbom'];
/** The commands, and what node is given to run each. */
const COMMANDS = Object.entries(scripts)
  .filter(([name]) => !OF_OTHERS.includes(name))
  .map(([name, line]) => {
    const [, file = '', args = ''] = /--import tsx (\S+) ?(.*)$/.exec(line) ?? [];
    return { name, file, args: args.split(' ').filter(Boolean) };
  });

function expectHelp(text: string, name: string): void {
  const command = name === 'start' ? 'npm start' : `npm run ${name}`;
  const [does = '', ...parts] = text.split('\n\n');
  expect(does).toMatch(/^[A-Z].+\.$/s);
  const headings = parts
    .map((part) => part.split('\n')[0])
    .filter((heading) => heading !== 'Options' && heading !== 'Profiles');
  expect([name, ...headings]).toEqual([name, 'Usage', 'Exit codes', 'Example']);
  expect(text).toMatch(new RegExp(`^Usage\n  ${command}( --|$)`, 'm'));
  expect(text).toMatch(new RegExp(`^Example\n  ${command}( --|$)`, 'm'));
  // Of its own command, and of no other.
  for (const [, other] of text.matchAll(/^ {2}npm (?:run )?([a-z:-]+)/gm)) expect(other).toBe(name);
  // What its usage and its example type is among its options.
  const optionsIn = (part = ''): string[] => part.match(/--[a-z][a-z-]*/g) ?? [];
  const partOf = (heading: string): string | undefined => parts.find((part) => part.startsWith(heading));
  for (const option of [...optionsIn(partOf('Usage')), ...optionsIn(partOf('Example'))])
    expect([name, ...optionsIn(partOf('Options'))]).toContain(option);
  for (const option of text.matchAll(/^ {2}(--[a-z-]+) +(\S.*)$/gm)) expect(option[2]).not.toBe('');
  for (const line of text.split('\n')) expect(line.length).toBeLessThanOrEqual(80);
}

test('each command of package.json is a program of ours', () => {
  expect(COMMANDS.length).toBeGreaterThan(20);
  expect(COMMANDS.filter(({ file }) => file === '').map(({ name }) => name)).toEqual([]);
});

test('every command of an installation explains its own words, options and exit codes, with an example', () => {
  const ours = COMMANDS.filter(
    ({ file, args }) => file === 'local/start.ts' && !/^(server|worker)$/.test(args[0] ?? ''),
  );
  expect(ours.map(({ args }) => args[0]).sort()).toEqual(Object.keys(OURS).sort());
  for (const { name, args } of ours) {
    const command = OURS[args[0] ?? ''];
    if (command) expectHelp(usageText(`npm run ${name}`, usageOf(command)), name);
  }
});

const PROGRAMS = COMMANDS.filter(
  ({ name, args }) => name === 'findings' || OURS[args[0] ?? ''] === undefined,
);
/** What `npm test` starts is compiled once; of other folders there are only the sources. */
const CHEAP = ['worker', 'findings'];

test.each(PROGRAMS.filter(({ name }) => IS_WHOLE || CHEAP.includes(name)))(
  'npm run $name answers --help with 0, and an option that it lacks with one line, its usage, and 64',
  async ({ name, file, args }) => {
    const cwd = await newFolder();
    const [help, wrong] = await Promise.all(
      ['--help', '--no-such'].map((option) => runProcess(file, { cwd, args: [...args, option] })),
    );
    expect(help).toMatchObject({ code: 0, stderr: '' });
    expectHelp(help?.stdout ?? '', name);
    expect(wrong).toMatchObject({ code: 64, stdout: '' });
    expect(wrong?.stderr).toBe(`Unknown option '--no-such'\n\n${help?.stdout}`);
  },
);
