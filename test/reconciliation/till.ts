import { at } from '../../src/gateway/adapter-helpers.ts';
import prompt from '../support/adapters/prompt.ts';

/** A till sells on the same account. */
export default {
  ...prompt,
  history: { ...prompt.history, isForeign: (row: unknown) => at(row, 'channel') === 'till' },
};
