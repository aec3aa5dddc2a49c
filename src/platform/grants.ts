import pg from 'pg';
import { UserFacingError } from './user-facing-error.ts';

const NOT_ALLOWED = '42501';

/** Rights in addition to SELECT, which the role has on every listed table. */
type Rights = {
  table: string;
  rights?: string;
  /** The columns that the role may update, if it may not update all of them. */
  updates?: string;
};

/**
 * Everything that the program does with each table, and so all rights of its role. If you add a
 * table, or a column that your code updates, add it here.
 */
const RIGHTS: readonly Rights[] = [
  // Evidence. Retention empties bodies, and deletes the journal and the verifications of unpaid
  // orders. Triggers refuse every other deletion; only the owner can disable them.
  { table: 'journal', rights: 'INSERT, DELETE' },
  { table: 'verifications', rights: 'INSERT, DELETE', updates: 'body' },
  { table: 'proofs', rights: 'INSERT' },
  { table: 'proof_payments', rights: 'INSERT' },
  { table: 'refunds', rights: 'INSERT' },

  // Orders and their money. Retention deletes unpaid orders. The price of an order never changes.
  // An unmatched payment gets its order, amount and currency when a person assigns it.
  {
    table: 'orders',
    rights: 'INSERT, DELETE',
    updates: `email, status, pay_by, ended_at, ended_by, end_reason, paid_reference, paid_at, part_paid, updated_at`,
  },
  { table: 'order_lines', rights: 'INSERT, DELETE' },
  {
    table: 'payments',
    rights: 'INSERT, DELETE',
    updates: `order_id, amount, currency, status, reason, checkout_url, opened_at, answered_at, next_check_at,
      leased_until, notified_at, signed_notification, quiet_checks, unreadable_since, failures`,
  },
  { table: 'ledgers', rights: 'INSERT, UPDATE, DELETE' },
  {
    table: 'cases',
    rights: 'INSERT',
    updates: `order_id, class, held, missing, evidence, digest, closed_at, closed_by, decision, acknowledged, note,
      number`,
  },

  // Incoming and outgoing data. Retention deletes messages and keys with their orders, and webhooks
  // by age.
  {
    table: 'messages',
    rights: 'INSERT, DELETE',
    updates: 'body, next_try_at, leased_until, first_try_at, tries, sent_at, held_by, lifted_by, last_error',
  },
  { table: 'webhooks', rights: 'INSERT, DELETE', updates: 'body, address, times, last_at' },
  { table: 'idempotency_keys', rights: 'INSERT, DELETE' },

  // Reconciliation. A dry run leaves no row, and each run first deletes the history rows of the
  // previous run.
  { table: 'runs', rights: 'INSERT, UPDATE, DELETE' },
  { table: 'history_rows', rights: 'INSERT, DELETE' },

  { table: 'products', rights: 'INSERT' },
  { table: 'stops', rights: 'INSERT', updates: 'ended_at, ended_by' },
  { table: 'settings', rights: 'INSERT, UPDATE' },
  { table: 'rate_limits', rights: 'INSERT, UPDATE, DELETE' },
  // At start, the program checks whether the schema is up to date.
  { table: '_prisma_migrations' },
];

/** USAGE allows nextval. Resetting a sequence would need UPDATE. */
const SEQUENCES = `cases_id_seq, history_rows_id_seq, journal_id_seq, messages_seq_seq, refunds_id_seq, runs_id_seq,
  stops_id_seq, verifications_id_seq, webhooks_id_seq`;

/**
 * The current role, and whether it lacks a right. A table or column that a newer schema has removed
 * does not count as a missing right.
 */
const LOOK_AT_RIGHTS = `
  SELECT current_user AS role, EXISTS (
    SELECT FROM jsonb_to_recordset($1) AS needed ("table" text, "column" text, "right" text)
    WHERE NOT CASE WHEN "column" IS NULL THEN has_table_privilege(to_regclass("table"), "right")
      ELSE (SELECT has_column_privilege(attrelid, attnum, "right") FROM pg_attribute
        WHERE attrelid = to_regclass("table") AND attname = "column") END) AS lacks`;

/**
 * Grants the rights above to the program's role if it lacks any. Run it after the migrations.
 * @param programUrl address with the program's role
 * @param ownerUrl address with the owner of the tables; if it is the same address, nothing is
 * granted
 * @throws {UserFacingError} if the owner's role cannot grant the rights
 */
export async function grantRights(programUrl: string, ownerUrl: string): Promise<void> {
  if (programUrl === ownerUrl) return;
  const { role, lacks } = await lookAtRights(programUrl);
  if (!lacks) return;
  const name = pg.escapeIdentifier(role);
  const statements = RIGHTS.map((one) => `GRANT ${wordsOf(one).join(', ')} ON ${one.table} TO ${name}`);
  statements.push(`GRANT USAGE ON SEQUENCE ${SEQUENCES} TO ${name}`);
  // Processes that start at the same time would change the same catalogue rows, which PostgreSQL
  // refuses.
  statements.unshift(`SELECT pg_advisory_xact_lock(hashtext('grants'))`);
  // One text is one transaction. If the role owns nothing, PostgreSQL refuses the GRANT, or grants
  // nothing and only warns.
  await query(ownerUrl, statements.join(';\n')).catch((error: unknown) => {
    if (!(error instanceof pg.DatabaseError && error.code === NOT_ALLOWED)) throw error;
  });
  if ((await lookAtRights(programUrl)).lacks)
    throw new UserFacingError(
      `The role ${role} lacks rights on the tables. Set DATABASE_DIRECT_URL to the address of their owner, and run migrate.`,
    );
}

async function lookAtRights(programUrl: string): Promise<{ role: string; lacks: boolean }> {
  const needed = JSON.stringify(RIGHTS.flatMap(neededFor));
  const [row] = await query<{ role: string; lacks: boolean }>(programUrl, LOOK_AT_RIGHTS, [needed]);
  if (row === undefined) throw new Error('the query for the rights of the role returned no row');
  return row;
}

function wordsOf({ rights, updates }: Rights): string[] {
  const words = ['SELECT'];
  if (rights !== undefined) words.push(rights);
  if (updates !== undefined) words.push(`UPDATE (${updates})`);
  return words;
}

/** The rights as rows: one per table and right, or per column and right. */
function neededFor({ table, rights = '', updates = '' }: Rights): object[] {
  const onTable = `SELECT, ${rights}`.match(/\w+/g) ?? [];
  const onColumns = updates.match(/\w+/g) ?? [];
  return [
    ...onTable.map((right) => ({ table, right })),
    ...onColumns.map((column) => ({ table, column, right: 'UPDATE' })),
  ];
}

async function query<Row extends pg.QueryResultRow>(url: string, text: string, values?: unknown[]): Promise<Row[]> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 10_000 });
  client.on('error', () => undefined);
  await client.connect();
  try {
    return (await client.query<Row>(text, values)).rows;
  } finally {
    await client.end();
  }
}
