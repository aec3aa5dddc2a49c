import { createHmac } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { parseDialect, type SignatureScheme } from '../../../src/gateway/dialect/dialect.ts';
import { isSignedBy } from '../../../src/gateway/webhook.ts';
import { Secret } from '../../../src/platform/secret.ts';
import type { Finding } from '../../../tools/probe/finding.ts';
import { concludeWebhook } from '../../../tools/probe/conclude-webhook.ts';
import type { Hook } from '../../../tools/probe/listener.ts';
import type { Observed } from '../../../tools/probe/observed.ts';

const NOW = new Date();
const SECRET = 'a secret of webhooks';

type Digest = { algorithm: 'sha256' | 'sha512'; encoding: 'hex' | 'base64' | 'base64url' };
type Signer = (mac: (text: string) => string, body: string) => Record<string, string>;

const PREFIXES = ['', 'sha256=', 'v1:', 'v1,', 'HMAC-SHA256 ', 'Signature: ', 'hmac/sha2|', 'a_b-c;', 'v0.'];
const TIMES: Record<string, (now: Date) => string> = {
  'x-signed-at': (now) => String(Math.floor(now.getTime() / 1_000)),
  'the-time': (now) => String(now.getTime()),
  'x-when': (now) => now.toISOString(),
};

/** Each prefix over the body alone, and over the body with a time from any header. */
const SIGNERS: [string, Signer][] = PREFIXES.flatMap((prefix, index): [string, Signer][] => [
  [`"${prefix}" before the digest`, (mac, body) => ({ 'x-anything': `${prefix}${mac(body)}` })],
  ...Object.entries(TIMES).map(([header, write], at): [string, Signer] => {
    const separator = ['.', ':', ''][(index + at) % 3] ?? '';
    return [
      `"${prefix}" before the digest of ${header}, "${separator}" and the body`,
      (mac, body) => {
        const time = write(NOW);
        return { [header]: time, 'x-anything': `${prefix}${mac(`${time}${separator}${body}`)}` };
      },
    ];
  }),
]);
const DIGESTS: Digest[] = (['sha256', 'sha512'] as const).flatMap((algorithm) =>
  (['hex', 'base64', 'base64url'] as const).map((encoding) => ({ algorithm, encoding })),
);

function hookOf(signer: Signer, { algorithm, encoding }: Digest, body: string, secret = SECRET): Hook {
  const mac = (text: string): string => createHmac(algorithm, secret).update(text).digest(encoding);
  const headers = { 'content-type': 'application/json', 'x-request-id': 'r-1', ...signer(mac, body) };
  return { headers, body: Buffer.from(body), json: JSON.parse(body) as unknown };
}

function signatureIn(hook: Hook): Finding | undefined {
  const observed = { hooks: [hook], sent: [] } as unknown as Observed;
  const known = { secrets: [new Secret(SECRET)], words: {}, now: NOW };
  const { findings } = concludeWebhook(observed, parseDialect('{}').dialect, known);
  return findings.find(({ about }) => about === 'webhook.signature');
}

const holds = (scheme: SignatureScheme | null, { headers, body }: Hook): boolean =>
  scheme !== null && isSignedBy([new Secret(SECRET)], scheme, headers, body, NOW.getTime() / 1_000);

/** Each signer with one digest, so that each meets several signers. */
const CASES = SIGNERS.flatMap(([name, signer], at) =>
  DIGESTS.slice(at % 6, (at % 6) + 1).map((digest) => ({ name, signer, digest })),
);

test.each(CASES)(
  '$name: the scheme is found, fits other webhooks, and no forged one',
  ({ signer, digest }) => {
    const found = signatureIn(hookOf(signer, digest, '{"reference":"r1"}'));
    expect([digest, found?.verdict]).toEqual([digest, 'differs']);
    const written = JSON.stringify({ webhook: { signature: found?.change } });
    const scheme = parseDialect(written).dialect.webhook.signature;
    const other = hookOf(signer, digest, '{"reference":"r2","amount":1}');
    expect(holds(scheme, other)).toBe(true);
    expect(holds(scheme, { ...other, body: Buffer.from('{"reference":"r3"}') })).toBe(false);
  },
);

test.each(CASES.slice(0, 3))(
  '$name, signed with another secret: no scheme is made up',
  ({ signer, digest }) => {
    const found = signatureIn(hookOf(signer, digest, '{"reference":"r1"}', 'another secret'));
    expect(found).not.toHaveProperty('change');
    expect(found?.seen).toContain('x-anything');
  },
);
