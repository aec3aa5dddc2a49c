import { expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';

// The faults that a service (S) and its webhooks (W) may bring, and where each one is played. A fault without a line here
// does not compile; a line whose file does not name the fault fails.

type UpTo<N extends number, Counted extends unknown[] = [unknown]> = Counted['length'] extends N
  ? N
  : Counted['length'] | UpTo<N, [...Counted, unknown]>;
type FaultId = `S${UpTo<45>}` | `W${UpTo<18>}`;

type Played = {
  fault: string;
  /** Test files in which a scenario bears its id. */
  in: readonly ('initialize' | 'verify' | 'money' | 'waiting' | 'webhooks' | 'configuration' | 'distrust')[];
  /** Files outside this folder that play it, or the part that is missing here. */
  also?: readonly string[];
  /** Why no scenario of this folder bears it. */
  because?: string;
};

const RECONCILIATION = 'a fault of paging through history: it confirms nothing, reconciliation reads it';

const MATRIX: Record<FaultId, Played> = {
  S1: { fault: 'initialize unanswered, not carried out', in: ['waiting', 'distrust'] },
  S2: { fault: 'initialize unanswered, carried out', in: ['waiting', 'distrust'] },
  S3: { fault: 'paid by a mailed link after a lost answer', in: ['waiting'] },
  S4: { fault: '5xx on initialize, carried out or not', in: ['initialize', 'distrust'] },
  S5: { fault: '5xx on verify', in: ['verify'] },
  S6: { fault: '429 with Retry-After', in: ['waiting'] },
  S7: { fault: 'every form of Retry-After', in: ['waiting'], also: ['test/gateway/verify.test.ts'] },
  S8: { fault: 'a refused key', in: ['verify'], also: ['test/checkout/checkout.test.ts'] },
  S9: { fault: '404 just after initialize', in: ['verify', 'money'] },
  S10: { fault: 'paid, then pending, then paid', in: ['money'] },
  S11: { fault: 'a status that flaps', in: ['money'] },
  S12: { fault: 'a status word that nobody knows', in: ['verify'] },
  S13: { fault: '200 whose body says error', in: ['initialize', 'verify', 'distrust'] },
  S14: { fault: 'another nesting', in: ['verify'] },
  S15: {
    fault: 'another amount',
    in: ['verify', 'money', 'distrust'],
    also: ['test/payments/confirm.test.ts'],
  },
  S16: { fault: 'another currency', in: ['verify', 'money'] },
  S17: {
    fault: 'a mode field of the other mode',
    in: ['distrust'],
    also: ['test/payments/decide.test.ts', 'test/payments/odd-answers.test.ts'],
  },
  S18: { fault: "a neighbour's record", in: ['verify'] },
  S19: { fault: 'odd numbers', in: ['verify'] },
  S20: { fault: 'missing and unknown fields', in: ['verify'] },
  S21: { fault: 'a dripping body', in: ['waiting'] },
  S22: { fault: 'headers without end', in: ['waiting'] },
  S23: { fault: 'a body that is not whole', in: ['initialize', 'verify'] },
  S24: { fault: 'a body without end', in: ['initialize', 'verify'] },
  S25: { fault: 'a compressed body', in: ['initialize', 'verify'] },
  S26: { fault: 'something else than JSON in UTF-8', in: ['initialize', 'verify', 'distrust'] },
  S27: { fault: 'something else than HTTP', in: ['initialize', 'verify'] },
  S28: { fault: 'redirects', in: ['initialize', 'verify'] },
  S29: { fault: 'TLS that cannot be trusted', in: ['distrust'] },
  S30: { fault: 'a name that does not resolve', in: ['waiting'] },
  S31: { fault: 'TCP refused, reset, half open', in: ['initialize', 'verify', 'waiting', 'distrust'] },
  S32: { fault: 'a kept connection that dies', in: ['initialize'] },
  S33: { fault: 'a reference that the service knows already', in: ['initialize'] },
  S34: { fault: 'an address that no shopper may be sent to', in: ['initialize'] },
  S35: { fault: 'one address for two references', in: ['initialize'] },
  S36: { fault: 'paid twice', in: ['money'] },
  S37: { fault: 'paid after it expired or failed', in: ['money'] },
  S38: { fault: 'paid, then reversed', in: ['money'] },
  S39: {
    fault: 'history rows repeated, missing, moved',
    in: [],
    also: ['test/gateway/history-paging.test.ts', 'test/reconciliation/classes.test.ts'],
    because: RECONCILIATION,
  },
  S40: {
    fault: 'paging without end',
    in: [],
    also: ['test/gateway/history-paging.test.ts', 'test/reconciliation/run.test.ts'],
    because: RECONCILIATION,
  },
  S41: { fault: 'history and verify disagree', in: ['money'] },
  S42: { fault: 'payments in history that are not ours', in: ['money'] },
  S43: { fault: 'odd times', in: ['verify'] },
  S44: { fault: 'a slow service', in: ['waiting'] },
  S45: { fault: 'a wrong base address', in: ['configuration'], also: ['test/config.test.ts'] },
  W1: { fault: 'repeated', in: ['webhooks'] },
  W2: { fault: 'in another order', in: ['webhooks'] },
  W3: { fault: 'before initialize has returned', in: ['webhooks'] },
  W4: { fault: 'never', in: ['webhooks'] },
  W5: { fault: 'forged, for a payment of ours', in: ['webhooks'] },
  W6: { fault: 'forged, for nobody', in: ['webhooks'] },
  W7: { fault: 'bad signatures, rotated secrets', in: ['webhooks'] },
  W8: { fault: 'replayed', in: ['webhooks'] },
  W9: { fault: 'a flood', in: ['webhooks'] },
  W10: { fault: 'malformed', in: ['webhooks'] },
  W11: { fault: 'too large', in: ['webhooks'] },
  W12: { fault: 'another encoding', in: ['webhooks'] },
  W13: { fault: 'characters that no row can hold', in: ['webhooks'] },
  W14: { fault: 'another method or content type', in: ['webhooks'] },
  W15: { fault: 'a body that crawls', in: ['webhooks'] },
  W16: { fault: 'signature headers that are none', in: ['webhooks'] },
  W17: {
    fault: 'while the database is away',
    in: ['webhooks'],
    also: ['test/processes/database-away.test.ts'],
  },
  W18: { fault: 'the reference at another place', in: ['webhooks'] },
};

const read = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
const ids = [
  ...Array.from({ length: 45 }, (_none, at) => `S${at + 1}`),
  ...Array.from({ length: 18 }, (_none, at) => `W${at + 1}`),
] as FaultId[];

test.each(ids)('%s is played, or it is said why not', (id) => {
  const { in: files, also = [], because } = MATRIX[id];
  for (const file of files) expect(scenariosOf(read(`test/faults/${file}.test.ts`))).toContain(id);
  for (const path of also) expect(read(path)).not.toBe('');
  if (files.length === 0) expect(because).toBeDefined();
});

test('every scenario belongs to a fault of the matrix, and stands in its line', () => {
  const files = [
    'initialize',
    'verify',
    'money',
    'waiting',
    'webhooks',
    'configuration',
    'distrust',
  ] as const;
  for (const file of files) {
    const played = scenariosOf(read(`test/faults/${file}.test.ts`));
    const listed = ids.filter((id) => MATRIX[id].in.includes(file));
    expect({ file, ids: [...played].sort() }).toEqual({ file, ids: [...listed].sort() });
  }
});

/** The ids that a test file gives to rows (`id: 'S1'`, `'W10',`) and to names of tests (`'S1: …`). */
function scenariosOf(text: string): Set<string> {
  return new Set([...text.matchAll(/['"`]([SW]\d{1,2})(?:['"`]|: )/g)].map(([, id]) => id ?? ''));
}
