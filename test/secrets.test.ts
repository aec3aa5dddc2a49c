import { expect, test } from '@jest/globals';
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

// The source tree must not contain a key. A finding names the place and never quotes the key.

const ROOT = fileURLToPath(new URL('../', import.meta.url));
const SECRETS: [what: string, pattern: RegExp][] = [
  ['a secret key of the payment service', /sk_(?:test|live)_[A-Za-z0-9]{16,}/],
  ['a webhook secret', /whsec_[A-Za-z0-9+/]{24,}/],
  ['a private key', /-----BEGIN (?:[A-Z]+ )*PRIVATE KEY-----\n/],
  ['a token of GitHub', /\b(?:gh[pousr]_[A-Za-z0-9]{36}|github_pat_\w{60,})/],
  ['a key of AWS', /\bAKIA[0-9A-Z]{16}\b/],
];
const IGNORED = /^(node_modules|\.git|\.data|dist|coverage|src\/platform\/prisma)\/|^\.env$/;

function placesOf(path: string, text: string): string[] {
  const found = SECRETS.filter(([, pattern]) => pattern.test(text));
  return found.map(([what]) => `${path}: ${what}. Take it out, and withdraw it where it was issued.`);
}

test('no file contains text that looks like a secret', () => {
  const entries = readdirSync(ROOT, { withFileTypes: true }).filter(({ name }) => !IGNORED.test(`${name}/`));
  const files = entries.flatMap((entry) =>
    entry.isDirectory()
      ? readdirSync(join(ROOT, entry.name), { recursive: true, withFileTypes: true })
          .filter((one) => one.isFile())
          .map((one) => relative(ROOT, join(one.parentPath, one.name)))
      : [entry.name],
  );
  const read = files.filter((path) => !IGNORED.test(path));
  expect(read.length).toBeGreaterThan(200);
  expect(read.flatMap((path) => placesOf(path, readFileSync(join(ROOT, path), 'utf8')))).toEqual([]);
});

test.each([`sk_live_${'a1'.repeat(8)}`, `whsec_${'b2'.repeat(12)}`, `AKIA${'C3'.repeat(8)}`])('%s is found', (key) => {
  expect(placesOf('a file', `const key = '${key}';`)).toHaveLength(1);
});
