import { foldWord, type Dialect } from '../../src/gateway/dialect/dialect.ts';
import type { StatusClass } from '../../src/gateway/records/evidence.ts';
import type { Json } from '../../src/gateway/dialect/json-pointer.ts';
import { finding, quoted, type Conclusion, type Finding, type Need, type Words } from './finding.ts';

/** The word before anybody paid, and the word after a person said that they did. No other word can be told. */
export function concludeWords(
  { before, now, isSaidPaid }: { before: string | null; now: string | null; isSaidPaid: boolean },
  dialect: Dialect,
  words: Words,
): Conclusion {
  const paidNow = now !== before && isSaidPaid ? now : null;
  const groups = Object.entries(dialect.statuses) as [keyof Dialect['statuses'], string[]][];
  const findings = groups.map(([name, inForce]): Finding => {
    const key = `statuses.${name}`;
    const seen = name === 'pending' ? before : name === 'paid' ? paidNow : null;
    const told = wordsIn(words[key] ?? '');
    const fresh = [...(seen === null ? [] : [seen]), ...told].filter(
      (word) => classOf(dialect, word) === 'unknown',
    );
    const isOdd = seen !== null && !['unknown', name].includes(classOf(dialect, seen));
    const verdict = fresh.length > 0 || isOdd ? 'differs' : seen === null ? 'cannot tell' : 'agrees';
    const text = isOdd
      ? `${JSON.stringify(seen)}, which stands under ${classOf(dialect, seen)}`
      : seen === null
        ? told.length > 0
          ? `${quoted(told)}, as you said`
          : notShown(name, now)
        : quoted([seen, ...told]);
    const unique = fresh.filter(
      (word, index) => fresh.findIndex((one) => foldWord(one) === foldWord(word)) === index,
    );
    return {
      ...finding(key, verdict, text, inForce),
      ...(unique.length > 0 && !isOdd && { change: [...inForce, ...unique] }),
    };
  });
  const needs = groups
    .filter(([name]) => name !== 'pending' && words[`statuses.${name}`] === undefined)
    .map(([name]): Need => ({
      key: `statuses.${name}`,
      question: `which further words mean ${MEANINGS[name]}?`,
    }));
  return { findings, needs };
}

/** The words of an answer, separated by commas. */
export function wordsIn(answer: string): string[] {
  return answer
    .split(',')
    .map((word) => word.trim())
    .filter((word) => word !== '');
}

const MEANINGS: Record<keyof Dialect['statuses'], string> = {
  paid: 'that money came, too much or too little included (the amount decides then)',
  pending: 'that nobody has paid yet',
  failed: 'failed or cancelled',
  expired: 'expired',
  reversed: 'that the money went back',
};

function notShown(name: string, now: string | null): string {
  return name === 'paid' && now !== null
    ? `now ${JSON.stringify(now)}, and nobody said that they paid`
    : 'not shown';
}

export function classOf({ statuses }: Dialect, word: Json): StatusClass {
  const folded = typeof word === 'string' ? foldWord(word) : '';
  const [name] = (Object.entries(statuses) as [StatusClass, string[]][]).find(([, list]) =>
    list.some((one) => foldWord(one) === folded),
  ) ?? ['unknown'];
  return name;
}
