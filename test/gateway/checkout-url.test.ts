import { describe, expect, test } from '@jest/globals';
import { acceptCheckoutUrl } from '../../src/gateway/initialize.ts';

const test_ = { mode: 'test', hosts: [] } as const;
const live = { mode: 'live', hosts: ['pay.example.com'] } as const;

test('in test mode any https host, and http on this machine', () => {
  expect(acceptCheckoutUrl('https://pay.example.com/c/1', test_)).toBe('https://pay.example.com/c/1');
  expect(acceptCheckoutUrl('http://127.0.0.1:3001/c/1', test_)).toBe('http://127.0.0.1:3001/c/1');
  expect(acceptCheckoutUrl('http://localhost:3001/c/1', test_)).toBe('http://localhost:3001/c/1');
  expect(acceptCheckoutUrl('http://pay.example.com/c/1', test_)).toBeNull();
});

test('in live mode only the hosts on the list', () => {
  expect(acceptCheckoutUrl('https://pay.example.com/c/1', live)).toBe('https://pay.example.com/c/1');
  expect(acceptCheckoutUrl('https://evil.example.com/c/1', live)).toBeNull();
  expect(acceptCheckoutUrl('http://127.0.0.1/c/1', { mode: 'live', hosts: [] })).toBeNull();
});

describe('no shopper is sent to', () => {
  test.each([
    '',
    'javascript:alert(1)',
    'data:text/html,x',
    '//evil.example.com',
    '/relative',
    'https://pay.example.com@evil.com/',
    'https://user@pay.example.com/',
    'https://pay.example.com.evil.com/',
    'https://pay.example.com:8443/',
    'http://pay.example.com/',
    'https://pay.example.com/\r\nset-cookie: a=b',
    'https:\\\\pay.example.com',
    'ftp://pay.example.com/',
    'https://pay.exаmple.com/',
    `https://pay.example.com/${'a'.repeat(2_100)}`,
  ])('%j', (url) => {
    expect(acceptCheckoutUrl(url, live)).toBeNull();
  });
});
