import type { Secret } from '../../src/platform/secret.ts';
import type { Dialect, SignatureScheme } from '../../src/gateway/dialect/dialect.ts';
import { firstAt, stringOf } from '../../src/gateway/dialect/json-pointer.ts';
import { isSignedBy } from '../../src/gateway/webhook.ts';
import { finding, quoted, type Conclusion, type Finding, type Verdict, type Words } from './finding.ts';
import type { Hook } from './listener.ts';
import type { Observed } from './observed.ts';
import { placesOf } from './places.ts';
import { likelySignatures, schemesFor } from './signatures.ts';

/** Which field of a webhook is our reference, and which scheme signed it: the digest fits or it does not. */
export function concludeWebhook(
  { hooks, sent }: Observed,
  dialect: Dialect,
  known: { secrets: readonly Secret[]; words: Words; now: Date },
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
  const { findings, needs } = concludeSignature(hook, dialect, known);
  return { findings: [referenceFinding(hook, ours, dialect), ...findings], needs };
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

function concludeSignature(
  hook: Hook,
  dialect: Dialect,
  { secrets, words, now }: { secrets: readonly Secret[]; words: Words; now: Date },
): Conclusion {
  const key = 'webhook.signature';
  const inForce = dialect.webhook.signature;
  const one = (verdict: Verdict, seen: string, change: object = {}): Conclusion => ({
    findings: [{ ...finding(key, verdict, seen, inForce), ...change }],
    needs: [],
  });
  if (secrets.length === 0) return one('cannot tell', 'set WEBHOOK_SECRETS to the secret that signs them');
  const holds = (scheme: SignatureScheme): boolean =>
    isSignedBy(secrets, scheme, hook.headers, hook.body, now.getTime() / 1_000);
  if (inForce !== null && holds(inForce)) return one('agrees', 'its signature holds');
  for (const { given, parsed } of schemesFor(hook))
    if (holds(parsed)) return one('differs', JSON.stringify(given), { change: given });
  if (inForce === null)
    return one('agrees', 'no scheme that we know fits: taken unsigned, webhooks are hints');
  const likely = likelySignatures(hook);
  if (likely.length === 0)
    return one('differs', 'no header looks like a signature: webhooks are hints', { change: null });
  if (words[key] === 'null') return one('differs', 'taken unsigned, as you said', { change: null });
  const seen = `${likely.join(', ')} looks like a signature, and no scheme that we know fits it`;
  const question =
    'is the secret in WEBHOOK_SECRETS the right one? Write "null" only to take webhooks unsigned, as hints.';
  return { ...one('differs', seen), needs: [{ key, question, choices: ['null'] }] };
}
