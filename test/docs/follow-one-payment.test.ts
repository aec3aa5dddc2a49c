import { existsSync, readFileSync } from 'node:fs';
import { posix } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { ROOT } from './markdown.ts';

// The page is the path through the code only while each file on it is reached from one above it.

const page = readFileSync(`${ROOT}/docs/follow-one-payment.md`, 'utf8');
const MAX_FILES = 15;
const MAX_LEAPS = 2;

const imports = (from: string, file: string): boolean =>
  [...readFileSync(`${ROOT}/${from}`, 'utf8').matchAll(/from '(\.{1,2}\/[^']+)'/g)].some(
    ([, target = '']) => posix.join(posix.dirname(from), target) === file,
  );

/** One line for each step of the page that the code does not take. */
function faultsOf(text: string): string[] {
  const steps = [...text.matchAll(/^\| (\d+) +\| \[`([^`]+)`\][^|]*\| (by compose)? *\| (.*)$/gm)].map(
    ([, number, file = '', handedOver, meaning = '']) => ({
      number: Number(number),
      file,
      isHandedOver: handedOver !== undefined,
      isLeap: meaning.includes('**leap**'),
    }),
  );
  const faults = steps.flatMap(({ number, file, isHandedOver }, at) => {
    if (number !== at + 1) return [`${file} is not number ${at + 1}`];
    if (!existsSync(`${ROOT}/${file}`)) return [`there is no ${file}`];
    const callers = isHandedOver
      ? ['src/compose.ts', 'src/connections.ts']
      : steps.slice(0, at).map((step) => step.file);
    const isReached = callers.filter((one) => existsSync(`${ROOT}/${one}`)).some((one) => imports(one, file));
    return at === 0 || isReached ? [] : [`${file} is imported by none of ${callers.join(', ')}`];
  });
  if (steps.length < 2) faults.push('there are no steps');
  if (steps.length > MAX_FILES) faults.push(`${steps.length} files are too many`);
  if (steps.filter(({ isLeap }) => isLeap).length > MAX_LEAPS) faults.push('it leaps too often');
  return faults;
}

test('every file that the page names is reached from one above it, and there are few', () => {
  expect(faultsOf(page)).toEqual([]);
});

describe('the test sees what it is there to see', () => {
  const row = (number: number, file: string, meaning = '', handedOver = '') =>
    `| ${number} | [\`${file}\`](x) | ${handedOver} | ${meaning} |\n`;

  test.each<[name: string, text: string, complaint: RegExp]>([
    ['no steps', '', /no steps/],
    ['a file that is gone', page.replaceAll('decide.ts', 'decided.ts'), /there is no src\/payments\/decided/],
    ['a file that nobody above imports', page + row(16, 'src/server.ts'), /server\.ts is imported by none/],
    [
      'a file that compose does not hand over',
      page + row(16, 'src/server.ts', '', 'by compose'),
      /none of src\/comp/,
    ],
    ['a step out of its order', page + row(12, 'src/server.ts'), /is not number 16/],
    ['a file too many', page + row(16, 'src/orders/order.ts'), /16 files are too many/],
    ['a leap too many', page.replace('the one room', '**leap**'), /leaps too often/],
  ])('%s', (_name, text, complaint) => {
    expect(faultsOf(text).join('\n')).toMatch(complaint);
  });
});
