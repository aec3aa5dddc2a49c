import type { ServiceAdapter } from '../../../src/gateway/adapter.ts';
import { pages, rows } from '../../../src/gateway/adapter-helpers.ts';
import plain from './plain.ts';

export default {
  ...plain,
  history: { ...plain.history, first: () => '/v1/transactions/history?page=1', rows, next: pages({ page: 'page' }) },
} satisfies ServiceAdapter;
