import { DialectError, type Dialect } from '../../src/gateway/dialect/dialect.ts';
import { classOf, wordsIn } from './conclude-words.ts';
import { draftDialect } from './draft.ts';
import type { Conclusion, Need, Words } from './finding.ts';
import type { Person } from './person.ts';

export type AskParts = {
  concludeWith: (words: Words) => Conclusion;
  dialect: Dialect;
  /** What the dialect file in force says. */
  given: Record<string, unknown>;
};

/** Answers lead to further questions, at most so often. */
const MAX_ROUNDS = 3;
/** Who gave so many answers that cannot be taken does not know. */
const MAX_TRIES = 3;

/** Asks what only a person can say, and again where an answer cannot be taken. @returns the answers that can */
export async function askPerson(person: Person, parts: AskParts): Promise<Words> {
  const words: Record<string, string> = {};
  const asked = new Set<string>();
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    const open = parts.concludeWith(words).needs.filter(({ key }) => !asked.has(key));
    if (open.length === 0) break;
    for (const need of open) {
      asked.add(need.key);
      const answer = await askFor(need, person, (text) => faultOf(need, text, words, parts));
      if (answer !== null) words[need.key] = answer;
    }
  }
  return words;
}

async function askFor(
  need: Need,
  person: Person,
  faultIn: (answer: string) => string | null,
): Promise<string | null> {
  let fault: string | null = null;
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    const answer: string = (await person.tells(need, fault))?.trim() ?? '';
    if (answer === '') return null;
    fault = faultIn(answer);
    if (fault === null) return answer;
  }
  return null;
}

/** Why an answer cannot be taken; null: it can. */
function faultOf(
  need: Need,
  answer: string,
  words: Words,
  { concludeWith, dialect, given }: AskParts,
): string | null {
  const { key, choices } = need;
  if (choices?.includes(answer) === false) return `"${answer}" is none of the choices`;
  const known =
    choices === undefined ? wordsIn(answer).find((word) => isOfAnother(word, key, dialect)) : undefined;
  if (known !== undefined) return `"${known}" stands under statuses.${classOf(dialect, known)} already`;
  try {
    draftDialect(given, concludeWith({ ...words, [key]: answer }).findings);
    return null;
  } catch (error) {
    if (error instanceof DialectError) return error.faults.join('; ');
    throw error;
  }
}

function isOfAnother(word: string, key: string, dialect: Dialect): boolean {
  return !['unknown', key.replace('statuses.', '')].includes(classOf(dialect, word));
}
