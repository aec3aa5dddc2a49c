import type { Mutant } from './mutant.ts';

const BY_RECONCILING = ['test/reconciliation/classes.test.ts', 'test/reconciliation/run.test.ts'];
const RULES = 'src/reconciliation/classification/rules.ts';
const TALLIES = 'src/reconciliation/tallies/repository.ts';
const MATCH = 'src/reconciliation/matching/repository.ts';
const CONTESTED = 'src/reconciliation/contested/repository.ts';

/** What makes orders and transactions agree, or says that they do not. */
export const BOOK_MUTANTS: readonly Mutant[] = [
  {
    bug: 'history is trusted',
    file: RULES,
    find: "[`there = 'paid'`, 'sources_disagree'],",
    replace: "[`there = 'paid'`, 'matched'],",
    breaks: 'what verify never confirmed counts as settled',
    tests: BY_RECONCILING,
  },
  {
    bug: 'absent is failed',
    file: RULES,
    find: "[`there IS NULL AND is_watched AND is_beyond_horizon`, 'absent_from_history'],",
    replace: "[`there IS NULL AND is_watched AND is_beyond_horizon`, 'failed'],",
    breaks: 'nobody asks the service where it is',
    tests: ['test/reconciliation/absent.test.ts'],
  },
  {
    bug: 'a list that was cut counts as whole',
    file: RULES,
    find: "[`is_settled AND there IS NULL AND is_cut`, 'history_truncated'],",
    replace: '',
    breaks: 'paid orders are raised for nothing, every night',
    tests: BY_RECONCILING,
  },
  {
    bug: 'the window is ignored',
    file: 'src/reconciliation/matching/scope.ts',
    find: '($3::timestamptz IS NULL OR ${payments}.created_at >= $3)',
    replace: '($3::timestamptz IS NULL OR true)',
    breaks: 'payments outside of the window are called absent',
    tests: BY_RECONCILING,
  },
  {
    bug: 'the books need not close',
    file: 'src/reconciliation/report.ts',
    find: 'const hasFindings = items.length > 0 || !closes || unclassified > 0;',
    replace: 'const hasFindings = items.length > 0 || unclassified > 0;',
    breaks: 'a row that was lost is not missed',
    tests: ['test/reconciliation/report.test.ts'],
  },
  {
    bug: 'an orphan transaction is nobody’s business',
    file: RULES,
    find: "[`NOT is_ours AND there <> 'unreadable'`, 'unknown_reference'],",
    replace: "[`NOT is_ours AND there <> 'unreadable'`, 'failed'],",
    breaks: 'money that is not ours stays unseen',
    tests: BY_RECONCILING,
  },
  {
    bug: 'payments outside of the window are counted',
    file: MATCH,
    find: `UNION ALL SELECT 'payments', NULL, -count(*), 0, 0, 0 FROM outside`,
    replace: '',
    breaks: 'every run over a window finds rows that nobody can explain',
    tests: ['test/reconciliation/completeness.test.ts'],
  },
  {
    bug: 'money released outside of the window is counted',
    file: MATCH,
    find: `SELECT 'releases', r.currency, -count(*), 0, 0, -sum(r.amount)`,
    replace: `SELECT 'releases', r.currency, -count(*), 0, 0, 0`,
    breaks: 'the books of a window never close',
    tests: ['test/reconciliation/completeness.test.ts'],
  },
  {
    bug: 'what was released after it was closed is not looked at',
    file: MATCH,
    find: `WHERE v.outcome IN ('failed', 'expired') AND v.id <`,
    replace: `WHERE false AND v.id <`,
    breaks: 'late money counts as money in time',
    tests: ['test/reconciliation/runs.test.ts'],
  },
  {
    bug: 'the first answer behind those looked at is passed over',
    file: CONTESTED,
    find: '${TAKEN_BACK} AND v.id > $2',
    replace: '${TAKEN_BACK} AND v.id > $2 + 1',
    breaks: 'money that went back stays released, and no run ever says so',
    tests: ['test/reconciliation/sources.test.ts'],
  },
  {
    bug: 'the first webhook behind those looked at is passed over',
    file: CONTESTED,
    find: 'AND (w.id > $3 OR',
    replace: 'AND (w.id > $3 + 1 OR',
    breaks: 'what the service said of money that went back is never read',
    tests: ['test/reconciliation/sources.test.ts'],
  },
  {
    bug: 'numbers are taken for the order of writing',
    file: CONTESTED,
    find: `WHERE answered_at < now() - interval '10 minutes'`,
    replace: 'WHERE true',
    breaks: 'an answer that two processes wrote at once is never looked at',
    tests: ['test/reconciliation/sources.test.ts'],
  },
  {
    bug: 'buckets are weighed by their count and money alone',
    file: TALLIES,
    find: 'OR min(sum) < max(sum) OR min(fingerprint) < max(fingerprint)',
    replace: 'OR min(sum) < max(sum)',
    breaks: 'other payments of the same money count as the ones that were asked for',
    tests: ['test/reconciliation/tallies.test.ts'],
  },
  {
    bug: 'a bucket that one side does not have weighs the same',
    file: TALLIES,
    find: 'HAVING count(*) < 3 OR',
    replace: 'HAVING',
    breaks: 'a payment that the history does not list is not missed',
    tests: BY_RECONCILING,
  },
  {
    bug: 'money of two currencies is weighed together',
    file: TALLIES,
    find: 'GROUP BY bucket, currency\n',
    replace: 'GROUP BY bucket\n',
    breaks: 'payments in another currency agree',
    tests: ['test/reconciliation/tallies.test.ts'],
  },
  {
    bug: 'how long settling took is not weighed',
    file: TALLIES,
    find: "OR sum(CASE side WHEN 'releases' THEN age WHEN 'payments' THEN -age END) > interval '${HORIZON_SEC} s'",
    replace: '',
    breaks: 'late money counts as money in time',
    tests: ['test/reconciliation/tallies.test.ts'],
  },
];
