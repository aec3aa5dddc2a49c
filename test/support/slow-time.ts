import pg from 'pg';
import { systemClock, type Clock } from '../../src/platform/clock.ts';

/**
 * A world whose time passes a hundred times more slowly. What waits in the database for its time (the first
 * check after 5 s, the pause of 10 s between hints, a lease of 30 s) then waits for minutes, and a test that
 * takes seconds where the machine is busy meets none of it by accident. A test that wants time to pass moves
 * what waits, by SQL.
 */
const SLOWER = 100;

/**
 * Slows down what the database calls now, in every session to come and in the defaults of its columns.
 * @returns the same time for the service that stands beside it
 */
export async function slowDown(databaseUrl: string): Promise<Clock> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    const { rows } = await client.query<{ ms: number }>(
      `SELECT extract(epoch FROM date_trunc('milliseconds', pg_catalog.now()))::float8 * 1000 AS ms`,
    );
    const beganMs = rows[0]?.ms ?? NaN;
    await client.query(slowerSince(new Date(beganMs)));
    const { now } = systemClock;
    return {
      ...systemClock,
      now: () => new Date(beganMs + (now().getTime() - beganMs) / SLOWER),
    };
  } finally {
    await client.end();
  }
}

/**
 * A function that is found before PostgreSQL's own, as in the tests that move the clock; a default names its
 * function for good.
 */
function slowerSince(began: Date): string {
  const at = began.toISOString();
  return `
    CREATE SCHEMA slow;
    ${['now', 'clock_timestamp']
      .map(
        (name) => `CREATE FUNCTION slow.${name}() RETURNS timestamptz LANGUAGE sql STABLE
          AS $$ SELECT timestamptz '${at}' + (pg_catalog.${name}() - timestamptz '${at}') / ${SLOWER} $$;`,
      )
      .join('\n')}
    DO $$
    DECLARE c record;
    BEGIN
      EXECUTE format('ALTER DATABASE %I SET search_path = slow, pg_catalog, public', current_database());
      FOR c IN SELECT table_name, column_name, column_default FROM information_schema.columns
        WHERE table_schema = 'public' AND column_default IN ('now()', 'clock_timestamp()')
      LOOP
        EXECUTE format('ALTER TABLE public.%I ALTER COLUMN %I SET DEFAULT slow.%s', c.table_name, c.column_name, c.column_default);
      END LOOP;
    END $$`;
}
