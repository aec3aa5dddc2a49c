import type { InitializeFields } from '../../../src/gateway/adapter.ts';
import { at, text } from '../../../src/gateway/adapter-helpers.ts';
import prompt from './prompt.ts';

/**
 * Mistakes of `read`. A record whose field `slip` names one gets these members instead of the right
 * ones.
 */
export const READ_SLIPS: Record<string, object> = {
  'a number as its id': { id: 5 },
  'no word': { word: undefined },
  'a status of its own': { status: 'done' },
  'an id with a NUL': { id: 'tx\0' },
};

/**
 * Texts for people that the database cannot store. The bad part is cut off, and the record counts.
 */
export const TEXT_SLIPS: Record<string, object> = {
  'a word of 100,000 characters': { word: 'x'.repeat(100_000) },
  'a word with a NUL': { word: 'SUC\0CESS' },
  'a word behind a line break': { word: '\nSUCCESS\n' },
};

const PAGE_SLIPS: Record<string, unknown> = { 'a number': 2, nothing: undefined };
const URL_SLIPS: Record<string, unknown> = { 'a refusal that is a number': { refused: 5 }, nothing: undefined };
const slipOf = (value: unknown, name = 'slip') => text(at(value, name)) ?? '';
const slipped = (slips: Record<string, unknown>, slip: string, honest: () => unknown) =>
  slip in slips ? slips[slip] : honest();

/** The prompt service, with the mistakes that an answer asks for. */
export default {
  ...prompt,
  initialize: {
    body: (fields: InitializeFields) => {
      if (fields.email.startsWith('unwritable')) throw new Error('it cannot be written');
      return fields;
    },
    checkoutUrl: (answer: unknown) => slipped(URL_SLIPS, slipOf(answer), () => prompt.initialize.checkoutUrl(answer)),
  },
  history: {
    ...prompt.history,
    rows: (page: unknown) => (slipOf(page, 'rows') === 'a text' ? 'a text' : prompt.history.rows(page)),
    next: (page: unknown, position: Parameters<typeof prompt.history.next>[1]) =>
      slipped(PAGE_SLIPS, slipOf(page, 'next'), () => prompt.history.next(page, position)),
  },
  read: (record: unknown) => {
    const reading = prompt.read(record);
    const slip = slipOf(record);
    return reading && { ...reading, ...READ_SLIPS[slip], ...TEXT_SLIPS[slip] };
  },
  webhook: {
    ...prompt.webhook,
    references: (body: unknown) => (slipOf(body) === '' ? prompt.webhook.references(body) : null),
  },
};
