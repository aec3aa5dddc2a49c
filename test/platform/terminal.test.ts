import { expect, test } from '@jest/globals';
import { createLogger } from '../../src/platform/logger.ts';
import { coloured, logOn, wrapped, type Screen } from '../../src/platform/terminal.ts';

/** A screen that keeps what is written to it. */
function screenOf(isTTY: boolean, colours: number): Screen & { text(): string } {
  let text = '';
  return {
    isTTY,
    hasColors: (count) => count <= colours,
    write: (more) => (text += more),
    text: () => text,
  };
}

function logged(screen: Screen & { text(): string }, isProduction: boolean): string {
  const err = new Error('no answer\u001b[2J', { cause: new Error('reset') });
  createLogger('info', logOn(screen, isProduction)).warn(
    { reference: 't27p', todo: 'wait here', err },
    'check postponed',
  );
  return screen.text();
}

test('a person at a terminal reads the log in lines; programs, and production, get JSON', () => {
  const lines = logged(screenOf(true, 2), false).split('\n');
  expect(lines[0]).toMatch(/^\d\d:\d\d:\d\d warn {2}check postponed {2}reference=t27p todo="wait here"$/);
  expect(lines[1]).toBe('  Error: no answer\ufffd[2J');
  expect(lines).toContain('  reset');
  for (const json of [logged(screenOf(false, 2), false), logged(screenOf(true, 2), true)])
    expect(JSON.parse(json)).toMatchObject({ level: 40, msg: 'check postponed', reference: 't27p' });
});

test('colour is for a terminal that shows it: not for a file, and not with NO_COLOR', () => {
  expect(coloured(screenOf(true, 256), 'red', 'NOT AGREED')).toBe('\u001b[31mNOT AGREED\u001b[0m');
  // With NO_COLOR a terminal of Node.js says that it has two colours.
  for (const screen of [screenOf(true, 2), screenOf(false, 256)])
    expect(coloured(screen, 'red', 'NOT AGREED')).toBe('NOT AGREED');
});

test('a long sentence goes on in the next line, below its own beginning', () => {
  expect(wrapped('  one two three', 4, 10)).toBe('  one two\n    three');
  for (const line of wrapped('word '.repeat(50).trim(), 6).split('\n'))
    expect(line.length).toBeLessThanOrEqual(80);
});
