import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import pg from 'pg';
import { startDesk, type Desk } from './reconciliation/support.ts';
import { beside, databaseOfRoles } from './support/database.ts';
import { callsOf, expectPaidOnce, sendNotification } from './support/failures.ts';
import { payInSilence } from './support/outside.ts';
import { PGBOUNCER, startPgBouncer } from './support/pgbouncer.ts';

// Two servers share three sessions through a PgBouncer in transaction mode. Their role owns
// nothing. Only migrations and reconciliation connect to PostgreSQL directly.

const [run, title] =
  PGBOUNCER === undefined
    ? [describe.skip, 'skipped, because pgbouncer is not installed']
    : [describe, 'PgBouncer in transaction mode'];

run(title, () => {
  let desk: Desk;
  let throughBouncer: pg.Pool;
  /** Closed after the last test, also when the setup fails. */
  const ends: (() => Promise<unknown>)[] = [];
  beforeAll(async () => {
    const { database, ownerUrl, programUrl } = await databaseOfRoles();
    const role = new URL(programUrl).username;
    await beside(
      new URL(database.url),
      `ALTER ROLE ${role} SET lock_timeout = '2s'`,
      `ALTER ROLE ${role} SET statement_timeout = '10s'`,
      `ALTER ROLE ${role} SET idle_in_transaction_session_timeout = '15s'`,
    );
    const bouncer = await startPgBouncer(programUrl);
    ends.push(bouncer.close);
    const places = { DATABASE_URL: bouncer.url, DATABASE_DIRECT_URL: ownerUrl };
    desk = await startDesk({ database, processes: 2, env: { ...places, CHECKOUTS_PER_MINUTE: '10000' } });
    ends.push(desk.stop);
    throughBouncer = new pg.Pool({ connectionString: bouncer.url, max: 3 });
    ends.push(() => throughBouncer.end());
  });
  afterAll(async () => {
    for (const end of ends.reverse()) await end();
  });

  test('each order is paid once when purchases and webhooks come in a burst', async () => {
    const open = await Promise.all(Array.from({ length: 20 }, () => desk.checkout()));
    await Promise.all(open.map(({ reference }) => payInSilence(desk, reference)));
    const notifications = open.flatMap(({ reference }) =>
      desk.urls.flatMap((url) => [0, 1, 2].map(() => sendNotification(desk, reference, url))),
    );
    const answers = await Promise.all(notifications);
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([202]));
    for (const { orderId } of open) await expectPaidOnce(desk, orderId);
    expect((await callsOf(desk, 'initialize')).length).toBe(20);
  });

  test('rate limits are counted in the database', async () => {
    const [seen] = await desk.database.query('SELECT max(points) AS points FROM rate_limits');
    expect(seen).toEqual({ points: 20 });
  });

  test('a whole reconciliation agrees', async () => {
    expect(await desk.reconcile()).toMatchObject({ exit: 0, report: { verdict: 'agreed', matched: 20 } });
  });

  test('books and doctor read through PgBouncer', async () => {
    const month = new Date().toISOString().slice(0, 7);
    expect(await desk.run('books', month)).toMatchObject({ exit: 0, err: '' });
    const doctor = await desk.run('doctor');
    expect(doctor.out).toMatch(/^ok +database: /m);
    expect(doctor).toMatchObject({ exit: 0, err: '' });
  });

  test('no session keeps a statement, a lock or a setting of the program, and each session keeps its role’s timeouts', async () => {
    const look = () =>
      throughBouncer.query(`
        SELECT (SELECT count(*)::int FROM pg_prepared_statements) AS statements,
          (SELECT count(*)::int FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid()) AS locks,
          concat_ws(' ', current_setting('lock_timeout'), current_setting('statement_timeout'),
            current_setting('idle_in_transaction_session_timeout')) AS limits, pg_sleep(0.2)::text AS slept`);
    for (const { rows } of await Promise.all([look(), look(), look()]))
      expect(rows).toEqual([{ statements: 0, locks: 0, limits: '2s 10s 15s', slept: '' }]);
  });

  test('no process has logged an error', () => {
    const levels = desk.logs().map(({ level }) => Number(level));
    expect(levels.length).toBeGreaterThan(0);
    expect(levels.filter((level) => level >= 50)).toEqual([]);
  });
});
