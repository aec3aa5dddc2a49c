import adapter from '../../../local/sandbox-adapter.ts';
import { at } from '../../../src/gateway/adapter-helpers.ts';

/** The default service, but another shop uses the same account, and the history can be filtered. */
export default {
  ...adapter,
  history: { ...adapter.history, filters: true, isForeign: (row: unknown) => at(row, 'merchant') === 'another' },
};
