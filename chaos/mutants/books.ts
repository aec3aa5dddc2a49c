import type { Mutant } from './mutant.ts';

const BY_RECONCILING = ['test/reconciliation/classes.test.ts', 'test/reconciliation/run.test.ts'];
const RULES = 'src/reconciliation/classification/rules.ts';

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
    file: 'src/reconciliation/matching/repository.ts',
    find: 'AND ($3::timestamptz IS NULL OR p.created_at >= $3)',
    replace: 'AND ($3::timestamptz IS NULL OR true)',
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
];
