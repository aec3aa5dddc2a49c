import { parse } from 'lossless-json';

import type { Answer } from '../api/answer.ts';
import { toJsonText } from '../api/json.ts';
import type { Facts, Profile } from '../profiles/profile.ts';
import type { RecordFault } from './fault.ts';

/** A word that no service has explained to anybody. */
const UNKNOWN_WORD = 'COLLECTED';

const asked =
  'Evidence that is missing is no evidence: the order is not paid by it. Once the answer is whole again, it is paid and released once.';

/** What verify may answer although the transaction is in order. */
export const RECORD_FAULTS = {
  'other-record': {
    title: 'Verify answers with another record',
    happens: "Verify answers with somebody else's paid transaction.",
    ends: 'The reference does not match: not paid by it. Once the answer is right again, the order is paid and released once.',
    spoil: (answer, { profile, transaction, neighbour }) =>
      neighbour === null
        ? profile.found({ ...transaction, id: 'somebody-else', reference: 'somebody-else' })
        : profile.found({ ...neighbour, state: 'paid' }),
  },
  'unknown-word': {
    title: 'Verify answers with an unknown word',
    happens: `The status is "${UNKNOWN_WORD}", a word that nobody has explained.`,
    ends: 'Neither paid nor failed: the order is under review until the word is known; once it is, it is paid and released once.',
    spoil: (answer, { profile }) =>
      edited(answer, profile.facts.status, (holder, key) => {
        holder[key] = UNKNOWN_WORD;
      }),
  },
  'missing-reference': lacking('reference'),
  'missing-status': lacking('status'),
  'missing-amount': lacking('amount'),
  'missing-currency': lacking('currency'),
} as const satisfies Record<string, RecordFault>;

function lacking(fact: keyof Facts): RecordFault {
  return {
    title: `Verify answers without the ${fact}`,
    happens: `The record says success and has no ${fact}.`,
    ends: asked,
    spoil: (answer, { profile }) => withoutFact(answer, profile, fact),
  };
}

function withoutFact(answer: Answer, { facts }: Profile, fact: keyof Facts): Answer {
  return edited(answer, facts[fact], (holder, key) => {
    Reflect.deleteProperty(holder, key);
  });
}

/** The same answer with one place of its JSON changed; numbers keep their digits. */
function edited(
  answer: Answer,
  pointer: string,
  edit: (holder: Record<string, unknown>, key: string) => void,
): Answer {
  const document = parse(answer.body);
  const path = pointer.split('/').slice(1);
  const key = path.pop() ?? '';
  const holder = path.reduce<unknown>(
    (value, name) => (value as Record<string, unknown> | undefined)?.[name],
    document,
  );
  if (typeof holder === 'object' && holder !== null) edit(holder as Record<string, unknown>, key);
  return { ...answer, body: toJsonText(document) };
}
