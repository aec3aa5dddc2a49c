import { expect, test } from '@jest/globals';
import type { ControlTotals } from '../../src/reconciliation/report/control-totals.ts';
import { composeReport, exitCodeOf, type Outcome } from '../../src/reconciliation/report/report.ts';
import { asRunId } from '../support/ids.ts';

const NOON = '2026-05-04T12:00:00.000Z';

/** Two payments of 25.00 on every side; `there` is what the service's list comes to. */
function booksOf(there: { sum: string; rows: bigint }): ControlTotals {
  const side = { currency: 'NGN', sum: '5000', rows: 2n, differing: 0n, named: 0n };
  return {
    sides: [
      { ...side, side: 'history', ...there, named: 2n },
      { ...side, side: 'payments' },
      { ...side, side: 'releases' },
    ],
    classes: [],
  };
}

function outcomeOf(books: ControlTotals): Outcome {
  return {
    runId: asRunId('1'),
    mode: 'test',
    startedAt: NOON,
    finishedAt: NOON,
    asOf: NOON,
    history: { records: 2, pages: 1, unreadable: 0 },
    problem: null,
    verified: 0,
    books,
    balances: null,
    findings: [],
    inputs: { history: '', ours: '', dialect: '' },
    items: [],
  };
}

test.each([
  ['agrees', { sum: '5000', rows: 2n }, 'agreed', '0.00', 0],
  ['holds a kobo more than any row explains', { sum: '5001', rows: 2n }, 'findings', '0.01', 0],
  ['holds a row that fell through the match', { sum: '5000', rows: 3n }, 'findings', '0.00', 1],
] as const)('no finding, and the service %s', (_name, there, verdict, difference, unclassified) => {
  const report = composeReport(outcomeOf(booksOf(there)));
  expect(report).toMatchObject({ verdict, unclassified, identity: [{ currency: 'NGN', difference }] });
  expect(exitCodeOf(report)).toBe(verdict === 'agreed' ? 0 : 1);
});
