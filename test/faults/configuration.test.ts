import { expect, test } from '@jest/globals';
import { ConfigError, loadConfig } from '../../src/config.ts';

// The address of the service is wrong: the program refuses to start (src/bootstrap/run-process.ts ends it with 78), because paths would be
// appended to whatever stands there.

function faultsOf(url: string): string[] {
  try {
    loadConfig({ GATEWAY_URL: url, GATEWAY_SECRET_KEY: 'sk_test_x' });
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.faults;
    throw error;
  }
}

test.each([
  ['a path', 'https://api.example.com/v1'],
  ['a slash at its end', 'https://api.example.com/'],
  ['a user name', 'https://sk_test_x@api.example.com'],
  ['a user name and a password', 'https://user:password@api.example.com'],
  ['a query', 'https://api.example.com?key=x'],
  ['a fragment', 'https://api.example.com#x'],
  ['no scheme', 'payments.internal'],
  ['another scheme', 'ftp://api.example.com'],
  ['a script', 'javascript:alert(1)'],
  ['plain http to another machine', 'http://api.example.com'],
  ['a space', 'https://api example.com'],
])('S45: the base address has %s', (_name, url) => {
  const faults = faultsOf(url);
  expect(faults.join('\n')).toContain('GATEWAY_URL');
  expect(faults.join('\n')).not.toContain(url);
});

test.each(['https://api.example.com', 'https://api.example.com:8443', 'http://127.0.0.1:4000'])(
  'S45: %s is one',
  (url) => {
    expect(faultsOf(url)).toEqual([]);
  },
);
