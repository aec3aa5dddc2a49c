import adapter from '../../../local/sandbox-adapter.ts';
import { at } from '../../../src/gateway/adapter-helpers.ts';

/** The default service, but another shop is paid through the same account, and its list filters. */
export default {
  ...adapter,
  history: { ...adapter.history, filters: true, isForeign: (row: unknown) => at(row, 'merchant') === 'another' },
};
