import type { PagePosition } from '../../../src/gateway/adapter.ts';
import shared from './shared.ts';

/** Its second page leads to an invalid next page. */
export default {
  ...shared,
  history: {
    ...shared.history,
    next: (page: unknown, at: PagePosition) =>
      at.number === 2 ? '/v1/transactions/nowhere?page=3' : shared.history.next(page, at),
  },
};
