import type { HistoryFault } from './fault.ts';

/** So many rows a list that was cut off still has. */
const ROWS_LEFT = 1;

/** What may happen to a list while it is read. What verify says stays right. */
export const HISTORY_FAULTS = {
  'history-truncated': {
    title: 'History is cut off',
    happens: 'The list promises all its transactions and ends after the newest one.',
    ends: 'The run is incomplete and calls nothing absent; the next one reads the whole list.',
    bend: (list) => ({ ...list, rows: (skip, take) => list.rows(skip, Math.min(take, ROWS_LEFT - skip)) }),
  },
  'history-moved': {
    title: 'History moves while it is read',
    happens:
      'Between two pages a row goes away in front, and one slides over the edge to a page that was read already.',
    ends: 'The run is incomplete and calls nothing absent; no order loses its state, and the next run reads the whole list.',
    bend: (list) => ({
      ...list,
      rows: (skip, take) => list.rows(skip === 0 ? 0 : skip + 1, take),
    }),
  },
  'history-repeated': {
    title: 'History repeats itself',
    happens:
      'Between two pages a new row comes in front, so that every page begins with the last row of the one before.',
    ends: 'What is listed twice is counted once: the run is complete, and so is the next one.',
    bend: (list) => ({
      ...list,
      total: list.total + 1,
      rows: (skip, take) => list.rows(Math.max(skip - 1, 0), take),
    }),
  },
} as const satisfies Record<string, HistoryFault>;
