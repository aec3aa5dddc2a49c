import type { Secret } from '../../src/platform/secret.ts';
import type { Dialect, SignatureScheme } from '../../src/gateway/dialect/dialect.ts';
import { dialectSchema } from '../../src/gateway/dialect/schema.ts';
import { firstAt, stringOf } from '../../src/gateway/dialect/json-pointer.ts';
import { isSignedBy } from '../../src/gateway/webhook-signature.ts';
import { finding, quoted, type Conclusion, type Finding } from './finding.ts';
import type { Hook } from './listener.ts';
import type { Observed } from './observed.ts';
import { placesOf } from './places.ts';

/** Which field of a webhook is our reference, and which scheme signed it: the digest fits or it does not. */
export function concludeWebhook(
  { hooks, sent }: Observed,
  dialect: Dialect,
  secrets: readonly Secret[],
  now: Date,
): Conclusion {
  const hook = hooks?.at(-1);
  if (hook === undefined) {
    const seen =
      hooks === null
        ? 'nobody listened: set PUBLIC_URL, or probe a sandbox of its own with --profile'
        : 'none came';
    return {
      findings: [finding('webhook.reference', 'cannot tell', seen, dialect.webhook.reference)],
      needs: [],
    };
  }
  const ours = sent.map(({ reference }) => reference);
  const findings = [
    referenceFinding(hook, ours, dialect),
    signatureFinding(hook, dialect, secrets, now.getTime() / 1_000),
  ];
  return { findings, needs: [] };
}

function referenceFinding(hook: Hook, ours: readonly string[], dialect: Dialect): Finding {
  const inForce = dialect.webhook.reference;
  const places = placesOf(hook.json, (value) => typeof value === 'string' && ours.includes(value));
  if (places.length === 0)
    return finding(
      'webhook.reference',
      'cannot tell',
      'it names no reference of ours: the clock finds its payment',
      inForce,
    );
  const isRead = ours.includes(firstAt(hook.json, inForce, stringOf) ?? '');
  const seen = finding('webhook.reference', isRead ? 'agrees' : 'differs', quoted(places), inForce);
  return { ...seen, ...(!isRead && { change: places }) };
}

function signatureFinding(hook: Hook, dialect: Dialect, secrets: readonly Secret[], nowSec: number): Finding {
  const key = 'webhook.signature';
  const inForce = dialect.webhook.signature;
  if (secrets.length === 0)
    return finding(key, 'cannot tell', 'set WEBHOOK_SECRETS to the secret that signs them', inForce);
  const holds = (scheme: SignatureScheme): boolean =>
    isSignedBy(secrets, scheme, hook.headers, hook.body, nowSec);
  if (inForce !== null && holds(inForce)) return finding(key, 'agrees', 'its signature holds', inForce);
  const [scheme] = schemesFor(hook).filter(({ parsed }) => holds(parsed));
  if (scheme !== undefined)
    return { ...finding(key, 'differs', JSON.stringify(scheme.given), inForce), change: scheme.given };
  const seen = 'no scheme that we know fits: taken unsigned, webhooks stay hints';
  return inForce === null
    ? finding(key, 'agrees', seen, inForce)
    : { ...finding(key, 'differs', seen, inForce), change: null };
}

type Scheme = { given: object; parsed: SignatureScheme };

/** Every scheme that the dialect can say, over the headers that came. */
function schemesFor({ headers }: Hook): Scheme[] {
  const own = Object.entries(headers).filter(
    ([name, value]) => typeof value === 'string' && !USUAL.has(name),
  );
  const timestamps = own.filter(([, value]) => /^\d{10}(\d{3})?$/.test(String(value))).map(([name]) => name);
  const times = [
    {},
    ...timestamps.map((timestampHeader) => ({ signs: 'timestamp.body', timestampHeader })),
    { list: {}, signs: 'timestamp.body' },
    { list: {} },
  ];
  const digests = (['sha256', 'sha512'] as const).flatMap((algorithm) =>
    (['hex', 'base64'] as const).flatMap((encoding) =>
      ['', `${algorithm}=`].map((prefix) => ({ algorithm, encoding, ...(prefix !== '' && { prefix }) })),
    ),
  );
  return own.flatMap(([header]) => [
    schemeOf({ scheme: 'static', header }),
    ...times.flatMap((time) => digests.map((digest) => schemeOf({ header, ...digest, ...time }))),
  ]);
}

function schemeOf(given: object): Scheme {
  const { signature } = dialectSchema.parse({ webhook: { signature: given } }).webhook;
  if (signature === null) throw new TypeError('a scheme was given');
  return { given, parsed: signature };
}

const USUAL = new Set([
  'host',
  'connection',
  'content-type',
  'content-length',
  'accept',
  'user-agent',
  'transfer-encoding',
]);
