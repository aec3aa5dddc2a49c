import { z } from 'zod';

import { HISTORY, historyPage, HTTP_STATUS } from '../assumptions.ts';
import type { Mode } from '../keys.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { accepted, refused, type Answer } from './answer.ts';

/** Digits only: `Number('')` and `Number('1e2')` would be numbers too. */
const positive = z
  .string()
  .regex(/^[1-9]\d{0,8}$/)
  .transform(Number);

const querySchema = z.object({
  page: positive.default(1),
  limit: positive.default(HISTORY.defaultLimit).transform((limit) => Math.min(limit, HISTORY.maxLimit)),
});

/** Lists the transactions of one mode by page, newest created first. */
export function history(ledger: Ledger, mode: Mode, query: unknown): Answer {
  const paging = querySchema.safeParse(query);
  if (!paging.success) return refused(HTTP_STATUS.malformed, 'page and limit must be whole numbers from 1');
  const { page, limit } = paging.data;
  const rows = ledger.page(mode, (page - 1) * limit, limit);
  return accepted('listed', 'transactions listed', historyPage(rows, page, limit, ledger.count(mode)));
}
