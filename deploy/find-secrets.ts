import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/* Part of `npm run check`: refuses a key that came into the tree. Names the place and never quotes the key. */

const SECRETS: readonly [kind: string, pattern: RegExp][] = [
  ['a secret key of the payment service', /sk_(?:test|live)_[A-Za-z0-9]{16,}/g],
  ['a webhook secret', /whsec_[A-Za-z0-9+/]{24,}={0,2}/g],
  ['a private key', /-----BEGIN (?:[A-Z]+ )*PRIVATE KEY-----/g],
  ['a token of GitHub', /\b(?:gh[pousr]_[A-Za-z0-9]{36}|github_pat_\w{60,})/g],
  ['a key of AWS', /\bAKIA[0-9A-Z]{16}\b/g],
];

/** Values that protect nothing: written into tests, or printed in a public specification. */
const KNOWN = new Set([
  'sk_test_abcdefghijklmnopqrstuvwxyz',
  // The example of the Standard Webhooks specification.
  'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD',
]);

/** @returns one line per secret, each with its place */
export function secretsIn(path: string, text: string): string[] {
  return text
    .split('\n')
    .flatMap((line, n) =>
      SECRETS.flatMap(([kind, pattern]) =>
        [...line.matchAll(pattern)]
          .filter(([found]) => !KNOWN.has(found))
          .map(() => `${path}:${n + 1}: looks like ${kind}`),
      ),
    );
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  // What git knows or would take up: .env is ignored and may hold what it likes.
  const list = ['ls-files', '-z', '--cached', '--others', '--exclude-standard'];
  const paths = execFileSync('git', list, { encoding: 'utf8' }).split('\0').filter(Boolean);
  const found = paths.flatMap((path) => secretsIn(path, read(path)));
  if (found.length > 0) {
    process.stderr.write(
      `${found.join('\n')}\nTake it out, and withdraw it where it was issued: whoever has the history has the key.\n`,
    );
    process.exitCode = 1;
  }
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    // A link to a folder, or a file that was deleted and not yet committed so.
    return '';
  }
}
