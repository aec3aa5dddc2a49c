import type { PagePosition } from '../../../src/gateway/adapter.ts';
import shared from './shared.ts';

/** After the second page it leads to a page that is none. */
export default {
  ...shared,
  history: {
    ...shared.history,
    next: (page: unknown, at: PagePosition) =>
      at.number === 2 ? '/v1/transactions/nowhere?page=3' : shared.history.next(page, at),
  },
};
