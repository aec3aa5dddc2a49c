import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import { runCommand } from '../../src/cli.ts';
import { startProcess } from '../support/process.ts';

// Bad arguments end a command before it opens anything, so these tests need no process of their
// own.

const said = { out: '', err: '' };
beforeEach(() => {
  Object.assign(said, { out: '', err: '' });
  delete process.env.USER;
  jest.spyOn(process.stdout, 'write').mockImplementation((text: unknown, ...[written]: unknown[]) => {
    said.out += String(text);
    (written as () => void)();
    return true;
  });
  jest.spyOn(process.stderr, 'write').mockImplementation((text) => Boolean((said.err += String(text))));
});
afterEach(() => {
  jest.restoreAllMocks();
});

const COMMANDS = [
  ...['cases list', 'cases show', 'cases decide', 'messages list', 'messages resend', 'messages hold', 'orders list'],
  ...['orders cancel', 'orders reopen', 'orders refund', 'checkouts stop', 'checkouts resume', 'books', 'export'],
  ...['explain', 'proof', 'activity', 'doctor', 'reconcile', 'after-restore', 'migrate', 'retention', 'erase'],
];

test('without arguments, every command is listed on a line of its own', async () => {
  expect(await runCommand([])).toBe(0);
  const lines = said.out.trim().split('\n').slice(1);
  const names = lines.map((line) => /^ {2}([a-z-]+( [a-z]+)?)(?= |$)/.exec(line)?.[1]);
  expect(names.sort()).toEqual([...COMMANDS].sort());
});

test.each(COMMANDS)('%s --help explains the command and its arguments, with an example', async (name) => {
  expect(await runCommand([...name.split(' '), '--help'])).toBe(0);
  const [usage = '', , words = ''] = said.out.split('\n');
  expect(usage).toMatch(new RegExp(`^${name}( |$)`));
  expect(words).toMatch(/^[A-Z].*\.$/);
  expect(said.out).toContain(`For instance: npm run cli -- ${name}`);
  // Every argument is explained.
  expect(said.out).not.toMatch(/^ {2}[-A-Z]\S*( [A-Z]+)? *$/m);
  expect(said.err).toBe('');
});

const BY = ['--by', 'Ada'];
test.each<[string, string[], RegExp]>([
  ['an unknown command', ['nonsense'], /no command nonsense[^]*cases list/],
  ['an unknown verb', ['orders', 'eat', 'x'], /no command orders eat x/],
  ['an unknown option', ['cases', 'list', '--evrything'], /Unknown option '--evrything'/],
  ['an option of acting commands only', ['cases', 'list', ...BY], /Unknown option '--by'/],
  ['an option without its value', ['orders', 'cancel', 'x', '--note'], /--note <value>.* argument missing/],
  ['too many words', ['cases', 'show', '7', '8'], /"8"/],
  ['a missing word', ['cases', 'show'], /^ID is missing: the number of the case, as cases list shows it/],
  ['a missing option', ['orders', 'cancel', 'x', ...BY], /^--note NOTE is missing: the reason/],
  ['an empty reason', ['orders', 'cancel', 'x', '--note', ' ', ...BY], /^--note NOTE is not valid: the reason/],
  ['no person', ['orders', 'cancel', 'x', '--note', 'y'], /^--by BY is missing: the name of the person/],
  [
    'the program as a person',
    ['orders', 'cancel', 'x', '--note', 'y', '--by', 'Schedule'],
    /^--by BY is not valid: the name of the person/,
  ],
  ['a case that is no number', ['cases', 'show', 'seven'], /^ID is not valid: the number of the case/],
  [
    'an unknown decision',
    ['cases', 'decide', '7', '--as', 'eat', '--note', 'y', ...BY],
    /^--as accept\|refund.* is not valid: the decision about/,
  ],
  [
    'an unknown currency',
    ['checkouts', 'stop', 'XXX', '--note', 'y', ...BY],
    /^CURRENCY is not valid: the ISO 4217 code/,
  ],
  ['an invalid month', ['books', '2026-13'], /^MONTH is not valid: a month like 2026-10/],
  ['an unknown export', ['export', 'money'], /is not valid: one of orders, cases, runs/],
  [
    'a time without a zone',
    ['reconcile', '--since', '2026-10-31T00:00:00'],
    /^--since SINCE is not valid: .* a time with its zone/,
  ],
  ['an invalid day', ['activity', '2026-02-30'], /^DAY is not valid: today, yesterday/],
  ['an option in place of a value', ['cases', 'decide', '7', '--note', '--elsewhere', ...BY], /--note.* is ambiguous/],
  ['an invalid address', ['erase', 'ada', ...BY], /^EMAIL is not valid: an e-mail address/],
])('%s exits with 64 and says what to do', async (_, words, sentence) => {
  expect([await runCommand(words), said.out]).toEqual([64, '']);
  expect(said.err).toMatch(sentence);
  expect(said.err).toMatch(/\nUsage: |\nCommands/);
});

test('an invalid configuration exits with 78 before anything is opened', async () => {
  const cli = startProcess('src/cli.ts', {}, ['cases', 'list']);
  expect([await cli.end(), cli.stdout()]).toEqual([78, '']);
  expect(cli.stderr()).toContain('DATABASE_URL: is required');
});
