import type { Clock } from '../../platform/clock.ts';
import { newId } from '../../platform/ids.ts';
import type { Secret } from '../../platform/secret.ts';
import { createClient } from '../client.ts';
import type { Dialect } from '../dialect.ts';
import { SecretKey } from '../secret-key.ts';
import { conclude } from './conclude.ts';
import { draftDialect } from './draft.ts';
import type { Conclusion, Words } from './finding.ts';
import { createLine, type Said } from './line.ts';
import type { Hook } from './listener.ts';
import { observe, type ObserveParts } from './observe.ts';
import type { Observed } from './observed.ts';
import type { Person } from './person.ts';

export type ProbeOptions = Pick<
  ObserveParts,
  'person' | 'listener' | 'email' | 'money' | 'origin' | 'waitMs' | 'hookMs'
> & {
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
};

export type Probed = Conclusion & {
  observed: Observed;
  /** The dialect file that follows; null: the one in force need not change. */
  draft: string | null;
  said: readonly Said[];
  hooks: readonly Hook[];
};

/** A person's answers lead to further questions, at most so often. */
const MAX_ROUNDS = 3;

/**
 * Finds out what a service really answers, and what a dialect must say so that we read it.
 * @throws {ProbeError} the service opened no checkout
 */
export async function probe(options: ProbeOptions): Promise<Probed> {
  const { url, key, dialect, given, secrets, pauseMs, clock, person } = options;
  if (key.mode !== 'test') throw new TypeError('the probe takes only test keys');
  const client = createClient(url, key, 1);
  const other = createClient(url, new SecretKey(`sk_test_${newId()}`), 1);
  const line = createLine(client, pauseMs);
  const stranger = createLine(other, pauseMs);
  try {
    const observed = await observe({ ...options, line, stranger, dialect });
    const now = clock.now();
    const words = await ask(person, (told) => conclude(observed, dialect, { secrets, words: told, now }));
    const { findings, needs } = conclude(observed, dialect, { secrets, words, now });
    const said = [...line.said(), ...stranger.said()];
    return {
      findings,
      needs,
      observed,
      draft: draftDialect(given, findings),
      said,
      hooks: observed.hooks ?? [],
    };
  } finally {
    await Promise.all([client.close(), other.close()]);
  }
}

async function ask(person: Person, given: (words: Words) => Conclusion): Promise<Words> {
  const words: Record<string, string> = {};
  const asked = new Set<string>();
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    const open = given(words).needs.filter(({ key }) => !asked.has(key));
    if (open.length === 0) break;
    for (const need of open) {
      asked.add(need.key);
      const answer = (await person.tells(need))?.trim() ?? '';
      if (answer !== '') words[need.key] = answer;
    }
  }
  return words;
}
