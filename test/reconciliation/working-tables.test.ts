import { expect, test } from '@jest/globals';
import { takeBefore } from '../../src/reconciliation/begin.sql.ts';
import { classify } from '../../src/reconciliation/compare/classify.sql.ts';
import { checksumBuckets, tallyOfList } from '../../src/reconciliation/compare/bucket-checksums.sql.ts';
import { matchSides, totalsOfSides } from '../../src/reconciliation/compare/matching.sql.ts';
import { gatherScope, type Scope } from '../../src/reconciliation/compare/scope.sql.ts';
import { foldHistory, openStaging } from '../../src/reconciliation/import/staging.sql.ts';
import { openSession, type Session } from '../../src/reconciliation/session.sql.ts';
import { WORKING_TABLES } from '../../src/reconciliation/working-tables.ts';
import { openDesk } from './desk.ts';

/** The temporary tables of the session as PostgreSQL describes them, each with its columns and their types. */
async function tablesOf(session: Session): Promise<Record<string, Record<string, string>>> {
  const rows = await session.query<{ name: string; columns: Record<string, string> }>(
    `SELECT relname AS name, json_object_agg(attname, format_type(atttypid, atttypmod)) AS columns
     FROM pg_class JOIN pg_attribute ON attrelid = pg_class.oid AND attnum > 0
     WHERE relnamespace = pg_my_temp_schema() AND relkind = 'r' AND relname <> 'history_rows_dry'
     GROUP BY pg_class.oid, relname ORDER BY pg_class.oid`,
  );
  return Object.fromEntries(rows.map(({ name, columns }) => [name, columns]));
}

test('the working tables have the order, the columns and the types that are declared', async () => {
  const desk = await openDesk();
  const session = await openSession(desk.database, 'test');
  if (session === null) throw new Error('another run has the lock');
  try {
    const mode = 'test';
    const startedAt = new Date();
    const reach = { beforeMs: null, afterMs: null };
    const scope: Scope = { mode, startedAt, since: new Date(0), until: null, listed: 0, reach };
    const staging = await openStaging(session, mode, { isDry: true, hasFees: false });
    await foldHistory(session, staging);
    await session.snapshot(async () => {
      await gatherScope(session, scope);
      await checksumBuckets(session, scope, []);
      await matchSides(session, scope);
      const coverage = { lagFrom: startedAt, reachesTo: null, isNoticed: false, cut: null };
      await classify(session, { startedAt, isCut: false, mode, coverage, isAsking: true, since: null });
      await totalsOfSides(session, scope, await tallyOfList(session));
      await takeBefore(session, mode, false);
    });
    const declared = Object.entries(WORKING_TABLES).map(([name, columns]) => [
      name,
      Object.fromEntries(
        Object.entries(columns).map(([column, type]) => [
          column,
          type.replace(/ (?:NOT NULL|PRIMARY KEY)$/, ''),
        ]),
      ),
    ]);
    const created = await tablesOf(session);
    expect(created).toEqual(Object.fromEntries(declared));
    expect(Object.keys(created)).toEqual(Object.keys(WORKING_TABLES));
  } finally {
    await session.close();
    await desk.close();
  }
});
