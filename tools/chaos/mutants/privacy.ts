import type { Mutant } from './mutant.ts';

const ERASURE = 'src/orders/erasure.sql.ts';
const BY_PERSON = ['test/orders/person.test.ts'];
const BY_RETENTION = ['test/processes/retention.test.ts'];

/** What is kept of people, for how long, and what is shown of it. */
export const PRIVACY_MUTANTS: readonly Mutant[] = [
  {
    bug: 'an address is found within a longer one',
    file: ERASURE,
    find: '(?<![a-z0-9._+-])',
    replace: '(?<![_])',
    breaks: 'who erases one shopper deletes the evidence of another',
    tests: BY_PERSON,
  },
  {
    bug: 'webhooks spell an address in one way only',
    file: ERASURE,
    find: 'new Set([...spellings, encodeURIComponent(plain).toLowerCase()])',
    replace: 'new Set([plain])',
    breaks: 'an erased address stays in the bodies of forms',
    tests: BY_PERSON,
  },
  {
    bug: 'webhooks that named no payment keep the address',
    file: 'src/webhooks/prune-webhooks.sql.ts',
    find: "OR ${bytesNameAddress('body', '$2')})",
    replace: 'OR cardinality($2::text[]) = 0)',
    breaks: 'an erased address stays in bodies that no order leads to',
    tests: BY_PERSON,
  },
  {
    bug: 'goods that were given up count as delivered',
    file: 'prisma/migrations/20261130100000_erasure_waits_for_delivery/migration.sql',
    find: "r.delivery IN ('waiting', 'dead')",
    replace: "r.delivery = 'waiting'",
    breaks: 'the delivery address is erased, and what was paid for cannot be sent again',
    tests: BY_PERSON,
  },
  {
    bug: 'retention prunes what held money needs',
    file: 'src/payments/prune-answers.sql.ts',
    find: "o.status IN ('pending', 'review'))`",
    replace: "o.status = 'none') OR old.answered_at < now() - make_interval(days => $1)`",
    breaks: 'the evidence of money in suspense is gone before anybody has decided',
    tests: BY_RETENTION,
  },
  {
    bug: 'retention ends with its first batch',
    file: 'src/platform/database/prune.sql.ts',
    find: 'LIMIT 1) AS next',
    replace: 'LIMIT 0) AS next',
    breaks: 'webhooks are kept for ever where many come',
    tests: BY_RETENTION,
  },
  {
    bug: 'the dispute pack names the customer',
    file: 'src/reporting/dispute-page.tsx',
    find: 'Buffer.from(text), withCustomer)',
    replace: 'Buffer.from(text), true)',
    breaks: 'an address leaves the house without a word',
    tests: ['test/reporting/dispute.test.ts'],
  },
];
