import { execFile } from 'node:child_process';
import { isDeepStrictEqual, promisify } from 'node:util';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { blocksOf } from './page.ts';
import { until } from './stage.ts';

const PAGE = 'upgrade-postgresql.md';
const CLI = fileURLToPath(new URL('../../dist/commands/cli.js', import.meta.url));
const LIMIT_MS = 120_000;
/** The page's `integrator`: that name is taken in the PostgreSQL from npm. */
export const ROLE = 'program';

/** A server with the shop's database: the address for its administrator and the one for the program. */
export type Server = { name: string; admin: string; program: string };
export type Compared = { tables: number; equal: number; different: string[] };
type Row = Record<string, unknown>;

/** The steps of docs/upgrade-postgresql.md, each with the page's own SQL. */
export const look = (old: Server): Promise<Row[]> => type(old, '1. Look at the old server');

/** An empty database, migrated by the program itself. */
export async function prepare(server: Server, env: Record<string, string>): Promise<void> {
  await promisify(execFile)(process.execPath, [CLI, 'migrate'], {
    env: { PATH: process.env.PATH, ...env, DATABASE_URL: server.program },
    timeout: LIMIT_MS,
  });
  await type(server, '2. Make the new server');
}

/** Returns when every table was copied, and what is committed follows. */
export async function follow(old: Server, next: Server): Promise<void> {
  await type(old, '3. Publish');
  await type(next, '4. Subscribe', 0, old);
  await until('all is copied', async () => (await type(next, '4. Subscribe', 1)).length === 0, LIMIT_MS);
}

export const stopWriting = (server: Server): Promise<Row[]> => type(server, '5. Stop writing');
export const writeAgain = (server: Server): Promise<Row[]> => type(server, '5. Stop writing', 1);

export async function caughtUp(old: Server): Promise<void> {
  await until(
    'the last commit is there',
    async () => (await type(old, '6. Wait for the last commit')).length === 0,
  );
}

/** @returns how many sequences there are */
export async function carrySequences(old: Server, next: Server): Promise<number> {
  const statements = await type(old, '7. Carry the sequences over');
  for (const { statement } of statements) await run(next, String(statement));
  return statements.length;
}

/** @returns how many tables there are and are equal; the names of those that are not, and `sequences` */
export async function compare(old: Server, next: Server): Promise<Compared> {
  const [ours, theirs] = await both('8. Compare', old, next);
  const differs = (row: Row, at: number): boolean => !isDeepStrictEqual(row, theirs[at]);
  const different = ours.filter(differs).map(({ name }) => String(name));
  const equal = ours.length - different.length;
  const sequences = await both('7. Carry the sequences over', old, next);
  if (!isDeepStrictEqual(...sequences)) different.push('sequences');
  return { tables: ours.length, equal, different };
}

const both = (step: string, old: Server, next: Server): Promise<[Row[], Row[]]> =>
  Promise.all([type(old, step), type(next, step)]);

/** What is committed on the new server follows on the old one: the way back stays open. */
export async function turn(old: Server, next: Server): Promise<void> {
  const step = '9. Turn the direction';
  await type(next, step, 0);
  await type(old, step, 1);
  await type(next, '3. Publish');
  await type(old, step, 2, next);
}

/** Types a block of the page. @returns the rows of its last statement */
function type(server: Server, step: string, at = 0, other = server): Promise<Row[]> {
  const sql = (blocksOf(PAGE, step, 'sql')[at] ?? '').replace(/\bintegrator\b/g, ROLE);
  return run(server, sql.replace(/'(?:OLD|NEW)'/, `'${other.admin}'`));
}

async function run(server: Server, sql: string): Promise<Row[]> {
  const client = new pg.Client({ connectionString: server.admin });
  client.on('error', () => undefined);
  try {
    await client.connect();
    let rows: Row[] = [];
    // Each commits by itself, as in psql: who comes back after the second must meet what the first has set.
    for (const statement of sql.split(/;\n(?=(?:ALTER|SELECT|SET)\b)/))
      ({ rows } = await client.query<Row>(statement));
    return rows;
  } finally {
    await client.end();
  }
}
