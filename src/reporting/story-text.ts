import { DEFAULT_LOCALE } from '../platform/locale.ts';
import { parseMajor } from '../platform/money.ts';
import type { OrderDetail } from './order-detail.ts';
import { sentence, type Writing } from './order-words.ts';
import { sentenceOf } from './story-sentences.ts';
import type { StoryEvent } from './timeline.sql.ts';

/** Something that happened to an order, as a sentence for a person. */
export type StoryLine = { at: Date; text: string };

/**
 * What happened to an order, oldest first, without what only a developer needs: keys, events, and entries of
 * the journal that repeat a row. Amounts are in major units; what repeats itself is one line with a count.
 */
export function storyLines(detail: OrderDetail, locale = DEFAULT_LOCALE): StoryLine[] {
  const { story, payments } = detail;
  const writing = writingOf(detail, locale);
  const lines: (StoryLine & { times: number; last: Date })[] = [];
  for (const event of story) {
    const text = isToldElsewhere(event, story) ? null : sentenceOf(event, writing);
    const before = lines.at(-1);
    if (text !== null && before?.text === text)
      Object.assign(before, { times: before.times + 1, last: event.at });
    else if (text !== null)
      lines.push({
        at: event.at,
        text: text + laterChecks(event, story, payments),
        times: 1,
        last: event.at,
      });
  }
  return lines.map(({ at, text, times, last }) => ({
    at,
    // Texts of the service and of people are in it.
    text: `${sentence(text)}${times === 1 ? '' : ` ${times} times, the last at ${secondOf(last)}.`}`,
  }));
}

export function writingOf({ amount, currency }: OrderDetail, locale = DEFAULT_LOCALE): Writing {
  return { total: { amount: parseMajor(amount, currency) ?? 0n, currency }, locale };
}

/** Money in suspense and the finding about it are one case: the item tells it. */
function isToldElsewhere(
  { source, what, reference, facts }: StoryEvent,
  story: readonly StoryEvent[],
): boolean {
  if (source !== 'finding' || what === 'note') return false;
  const isHeld = story.some(
    (one) => one.source === 'suspense' && one.reference === reference && one.facts.class === facts.class,
  );
  return isHeld || facts.raised === undefined;
}

/** The service is asked more often than it says something new, and only what is new is stored. */
function laterChecks(
  event: StoryEvent,
  story: readonly StoryEvent[],
  payments: OrderDetail['payments'],
): string {
  const answers = story.filter(
    ({ source, reference }) => source === 'verification' && reference === event.reference,
  );
  const payment = payments.find(({ reference }) => reference === event.reference);
  if (event !== answers.at(-1) || !payment?.lastAnswerAt || payment.lastAnswerAt <= event.at) return '';
  return ` Asked ${payment.checks} times in all, the last at ${secondOf(payment.lastAnswerAt)}: nothing new.`;
}

function secondOf(at: Date): string {
  return at.toISOString().slice(11, 19);
}
