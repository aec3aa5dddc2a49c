import type { Clock } from '../../src/platform/clock.ts';
import { newId } from '../../src/platform/ids.ts';
import type { Secret } from '../../src/platform/secret.ts';
import { createClient } from '../../src/gateway/http/client.ts';
import { createKeyRedactor } from '../../src/gateway/http/redact-key.ts';
import { parseDialect, type Dialect } from '../../src/gateway/dialect/dialect.ts';
import { SecretKey } from '../../src/gateway/secret-key.ts';
import { askPerson } from './ask-person.ts';
import { conclude } from './conclude.ts';
import { draftDialect } from './draft.ts';
import type { Conclusion, Words } from './finding.ts';
import { createLine, type Said } from './line.ts';
import { jsonOf, type Hook } from './listener.ts';
import { observe } from './observe.ts';
import type { Observed, ObserveParts } from './observed.ts';
import { readBack } from './read-back.ts';

export type ProbeOptions = Omit<ObserveParts, 'line' | 'stranger'> & {
  url: URL;
  /** Of test mode: the probe opens payments that nobody ordered. */
  key: SecretKey;
  dialect: Dialect;
  /** What the dialect file in force says. */
  given: Record<string, unknown>;
  secrets: readonly Secret[];
  /** Milliseconds between calls. */
  pauseMs: number;
  clock: Clock;
  /** Is given every answer as it comes, so that it outlives whatever ends the probe. */
  keep?: (said: Said) => void;
};

export type Probed = Conclusion & {
  observed: Observed;
  /** The dialect file that follows; null: the one in force need not change. */
  draft: string | null;
  hooks: readonly Hook[];
};

/**
 * Finds out what a service really answers, and what a dialect must say so that we read it.
 * @throws {ProbeError} the service opened no checkout
 */
export async function probe(options: ProbeOptions): Promise<Probed> {
  const { url, key, dialect, given, secrets, pauseMs, clock, person, keep = () => undefined } = options;
  if (key.mode !== 'test') throw new TypeError('the probe takes only test keys');
  const client = createClient(url, key, 1);
  // Asked with a foreign key, the service may still know ours.
  const redactor = createKeyRedactor(key);
  const other = createClient(url, new SecretKey(`sk_test_${newId()}`), 1, undefined, redactor);
  const line = createLine(client, pauseMs, keep);
  const stranger = createLine(other, pauseMs, keep);
  try {
    const seen = await observe({ ...options, line, stranger, dialect });
    // The bytes stay as they came, for the signature; what is concluded and printed comes from the JSON.
    const hooks = seen.hooks?.map((hook) => ({ ...hook, json: jsonOf(redactor.clean(hook.body)) })) ?? null;
    const observed = { ...seen, hooks };
    const now = clock.now();
    const concludeWith = (words: Words): Conclusion => conclude(observed, dialect, { secrets, words, now });
    const { findings, needs } = concludeWith(await askPerson(person, { concludeWith, dialect, given }));
    const draft = draftDialect(given, findings);
    const written = draft === null ? dialect : parseDialect(draft).dialect;
    person.sees('reading the payments back');
    const read = await readBack({ client, dialect: written, observed, pauseMs });
    return { findings: [...findings, ...read], needs, observed, draft, hooks: hooks ?? [] };
  } finally {
    await Promise.all([client.close(), other.close()]);
  }
}
