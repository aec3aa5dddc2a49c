import type { ServiceAdapter } from '../../../src/gateway/adapter.ts';
import { at, link, rows } from '../../../src/gateway/adapter-helpers.ts';
import plain from './plain.ts';

export default {
  ...plain,
  history: { ...plain.history, rows: (page) => rows(at(page, 'records')), next: link({ at: 'links.next.href' }) },
} satisfies ServiceAdapter;
