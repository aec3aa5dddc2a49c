/**
 * The temporary tables of a run, in the order in which it creates them, and what their columns mean.
 * `scoped`, `bucket_checksums` and `classified` are made anew whenever the run compares. They live as long as
 * its session. `history_rows`, the view of the list that was read, has the columns of the table
 * `history_rows_test`, which prisma/migrations/20261122100300_reconciliation explains.
 */
export const WORKING_TABLES = {
  /**
   * What webhooks say about money.
   * Filled by compare/conflicts.sql.ts, read there and by compare/facts.sql.ts.
   */
  webhook_words: {
    reference: 'text PRIMARY KEY',
    /** `reversed`: it went back. `paid`: it came, for a payment that is not confirmed. */
    word: 'text NOT NULL',
  },

  /**
   * Confirmed payments that a webhook, a later answer of verify or an open finding contradicts.
   * Filled by compare/conflicts.sql.ts, read by compare/matching.sql.ts.
   */
  contested: { reference: 'text PRIMARY KEY' },

  /**
   * What verify answered in this run: empty until then.
   * Filled by import/staging.sql.ts, read by compare/facts.sql.ts and compare/classify.sql.ts.
   */
  verified_payments: {
    reference: 'text PRIMARY KEY',
    has_released: 'boolean NOT NULL',
    outcome: 'text NOT NULL',
  },

  /**
   * References that are in the list more than once.
   * Made and read by import/staging.sql.ts.
   */
  repeated: { reference: 'text' },

  /**
   * The payments that a run over a window compares: those of the window, and listed ones from outside it.
   * Made by compare/scope.sql.ts, read wherever payments are compared. A whole run has none.
   */
  scoped: {
    reference: 'text',
    order_id: 'text',
    status: 'text',
    amount: 'bigint',
    currency: 'text',
    created_at: 'timestamp with time zone',
  },

  /**
   * What each side holds, by bucket.
   * Made by compare/bucket-checksums.sql.ts, read there and by compare/matching.sql.ts.
   */
  bucket_checksums: {
    /** `history`, `payments`, `releases`: rows that are plainly paid. The others are only counted. */
    side: 'text',
    bucket: 'bigint',
    currency: 'text',
    rows: 'bigint',
    /** Minor units. */
    sum: 'numeric',
    /** XOR of the seeded hashes of reference and amount. */
    fingerprint: 'bigint',
    /** The sum of the times from the start of the run to writing (payments) or releasing (releases). */
    age: 'interval',
    /** How many references that the last complete list held are among the rows of this list. */
    sentinels: 'bigint',
    /** XOR of hashes that are not seeded: equal for equal lists. */
    digest: 'bigint',
  },

  /**
   * One row per reference, from the list, from our payments or from both, that is not plainly matched.
   * Made by compare/matching.sql.ts, read by coverage.sql.ts, compare/facts.sql.ts and begin.sql.ts.
   */
  differing: {
    reference: 'text',
    is_listed: 'boolean',
    /** The status in the list; null when it is not listed. */
    there: 'text',
    /** How many transactions took money under the reference. */
    charges: 'integer',
    /** The list names no amount or no currency: what was asked for stands in. */
    is_assumed: 'boolean',
    /** Minor units, as the list says or as assumed. */
    paid_amount: 'bigint',
    paid_currency: 'text',
    /** Of its charges, by the service; an empty text: one without an id. Null: no money is listed. */
    charge_ids: 'text[]',
    is_ours: 'boolean',
    order_id: 'text',
    /** The status of our payment. */
    here: 'text',
    /** What was asked for. */
    amount: 'bigint',
    currency: 'text',
    /** What came, and what verify said of it, where a person accepted that; else null. */
    accepted_amount: 'bigint',
    accepted_outcome: 'text',
    created_at: 'timestamp with time zone',
    is_released: 'boolean',
    released_amount: 'bigint',
    released_at: 'timestamp with time zone',
    /** The evidence of the release. */
    verification_id: 'bigint',
    /** Released after the payment was closed, or after eight days. */
    is_late: 'boolean',
    /** From before reconciliation began, and nothing has been heard of it since. */
    is_before: 'boolean',
  },

  /**
   * Every row of `differing`, with its class. At the end also each currency whose balance does not add up.
   * Made by compare/classify.sql.ts, added to by report/balances.sql.ts, read by raise.sql.ts and
   * begin.sql.ts.
   */
  classified: {
    reference: 'text',
    class: 'text',
    is_ours: 'boolean',
    order_id: 'text',
    /** Minor units here. */
    expected: 'bigint',
    expected_currency: 'text',
    /** Minor units there, of a status that means money. */
    actual: 'bigint',
    actual_currency: 'text',
    /** Minor units of the release. */
    confirmed: 'bigint',
    is_released: 'boolean',
    /** Verify is asked about it. */
    is_to_verify: 'boolean',
    /** Within a day a run asked verify, which confirmed it although the list lacks it. */
    is_confirmed_by_a_run_lately: 'boolean',
    /** As in `differing`. */
    is_before: 'boolean',
    /** What each source says; null for a class that is no finding. */
    evidence: 'jsonb',
  },

  /**
   * What a begin takes as before.
   * Made and read by begin.sql.ts.
   */
  taken: {
    reference: 'text',
    is_ours: 'boolean',
    order_id: 'text',
    /** The status of our payment. */
    here: 'text',
    is_released: 'boolean',
    /** Minor units there, of a status that means money. */
    actual: 'bigint',
    actual_currency: 'text',
    /** What the list shows, as in `differing`. */
    there: 'text',
    charges: 'integer',
    paid_amount: 'bigint',
    paid_currency: 'text',
  },
} as const;

type WorkingTable = keyof typeof WORKING_TABLES;

/** SQL that creates a working table, empty. */
export function createTable(name: WorkingTable): string {
  const columns = Object.entries(WORKING_TABLES[name]).map(([column, type]) => `${column} ${type}`);
  return `CREATE TEMPORARY TABLE ${name} (${columns.join(', ')})`;
}

/**
 * SQL that creates a working table anew from a query with these columns. Inserting into an empty table would
 * be the same, but PostgreSQL spreads only this form over every core.
 */
export function createTableAs(name: WorkingTable, query: string): string {
  return `CREATE TEMPORARY TABLE ${name} (${Object.keys(WORKING_TABLES[name]).join(', ')}) AS ${query}`;
}
