import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { execFile } from 'node:child_process';
import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { copyProject, type ProjectCopy } from './support/project-copy.ts';
import { cloneDatabase, type TestDatabase } from './support/database.ts';

// Tests npm run db:migrate in a copy of the project, on a database of its own: the migrations that
// it writes, and that it cleans up.

let project: ProjectCopy;
let database: TestDatabase;
/** The migrations of the program. The migrations of a test come after them. */
let shipped: string[];
beforeAll(async () => {
  [project, database] = await Promise.all([copyProject(), cloneDatabase()]);
  shipped = await folders();
});
afterAll(async () => {
  await project.remove();
  await database.drop();
});

type Ended = { code: number; said: string };

function npm(words: string[], env: Record<string, string> = { DATABASE_URL: database.url }): Promise<Ended> {
  const { PATH = '', HOME = '' } = process.env;
  return new Promise((resolve) => {
    // An unreachable proxy, so that nothing is downloaded.
    const offline = { HTTPS_PROXY: 'http://127.0.0.1:9', HTTP_PROXY: 'http://127.0.0.1:9' };
    const options = { cwd: project.folder, env: { PATH, HOME, ...offline, ...env } };
    execFile('npm', ['run', '--silent', ...words], options, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : Number(error.code), said: stdout + stderr });
    });
  });
}

const migrate = (...words: string[]) => npm(['db:migrate', '--', ...words]);
const folders = async () =>
  (await readdir(join(project.folder, 'prisma/migrations'))).filter((one) => /^\d/.test(one)).sort();
const written = async () => (await folders()).filter((one) => !shipped.includes(one));
const temporary = () => database.query(`SELECT datname FROM pg_database WHERE datname LIKE 'migrate\\_%'`);
const columns = () =>
  database.query(`SELECT column_name, data_type FROM information_schema.columns
    WHERE table_name = 'orders' AND column_name IN ('test_column', 'test_number')`);

async function changeSchema(change: (schema: string) => string): Promise<void> {
  const file = join(project.folder, 'prisma/schema.prisma');
  await writeFile(file, change(await readFile(file, 'utf8')));
}

const addTo = (line: string) => changeSchema((schema) => schema.replace('model Order {', `model Order {\n  ${line}`));

test.each([
  [[], 'The migration needs a name: npm run db:migrate -- --name add_gift_note'],
  [['--name', 'Add gift'], '"Add gift" cannot be the name of a migration'],
  [['--name', '../x'], '"../x" cannot be the name of a migration'],
  [['--nmae', 'x'], "Unknown option '--nmae'"],
])('%j is refused with exit code 64, and nothing is written', async (words, message) => {
  const { code, said } = await migrate(...words);
  expect(said).toContain(message);
  expect([code, await written()]).toEqual([64, []]);
});

test('without a difference, no migration is written, but the client is generated again', async () => {
  const stale = join(project.folder, 'src/platform/prisma/models/Order.ts');
  await writeFile(stale, '');
  const { code, said } = await migrate('--name', 'nothing');
  expect(said).toContain('No migration was written.\nGenerated the Prisma client again.\n');
  expect(await readFile(stale, 'utf8')).toContain('OrderModel');
  expect([code, await written(), await temporary()]).toEqual([0, [], []]);
});

test('an invalid schema is reported, and the temporary database is removed', async () => {
  await addTo('testColumn Txet? @map("test_column")');
  const { code, said } = await migrate('--name', 'add_test_column');
  expect(said).toContain('Txet');
  expect([code, await written(), await temporary()]).toEqual([1, [], []]);
  await changeSchema((schema) => schema.replace('Txet', 'String'));
});

test('a new column gets a migration in Prisma’s words, which is applied, and the client knows the column', async () => {
  const { code, said } = await migrate('--name', 'add_test_column');
  expect(said).toMatch(/Wrote prisma\/migrations\/\d{14}_add_test_column\/migration\.sql/);
  const [folder = ''] = await written();
  expect(folder).toMatch(/^\d{14}_add_test_column$/);
  const sql = await readFile(join(project.folder, 'prisma/migrations', folder, 'migration.sql'), 'utf8');
  expect(sql).toBe('-- AlterTable\nALTER TABLE "orders" ADD COLUMN     "test_column" TEXT;\n');
  expect(await columns()).toEqual([{ column_name: 'test_column', data_type: 'text' }]);
  const client = await readFile(join(project.folder, 'src/platform/prisma/models/Order.ts'), 'utf8');
  expect(client).toContain('testColumn');
  expect([code, await temporary()]).toEqual([0, []]);
  expect((await migrate('--name', 'again')).said).toContain('No migration was written.');
});

test('a migration that the database refuses is reported with the file to correct', async () => {
  await database.query('ALTER TABLE orders ADD COLUMN test_number integer');
  await addTo('testNumber Int? @map("test_number")');
  const { code, said } = await migrate('--name', 'add_test_number');
  expect(said).toMatch(/Wrote (\S+), but the database rejects it\.[^]*Correct \1 and run npm run db:deploy/);
  expect([code, await temporary()]).toEqual([1, []]);
  await database.query('ALTER TABLE orders DROP COLUMN test_number');
});

test('a required column without a default gives a warning, and a column with a default gives none', async () => {
  const warning = 'The running version cannot insert rows without it: make the column optional, or give it a default.';
  await changeSchema((schema) => schema.replace('testNumber Int?', 'testNumber Int'));
  await rm(join(project.folder, 'prisma/migrations', (await written()).at(-1) ?? ''), { recursive: true });
  const required = await migrate('--name', 'add_test_number');
  expect(required.said).toContain('ADD COLUMN     "test_number" INTEGER NOT NULL;');
  expect([required.code, required.said.includes(warning)]).toEqual([0, true]);
  await addTo('testDefault Int @default(0) @map("test_default")');
  const defaulted = await migrate('--name', 'add_test_default');
  expect(defaulted.said).toContain('"test_default" INTEGER NOT NULL DEFAULT 0;');
  expect([defaulted.code, defaulted.said.includes(warning)]).toEqual([0, false]);
});

test('npm run db:deploy applies missing migrations, also to the embedded database', async () => {
  const deployed = await npm(['db:deploy'], { DATABASE_URL: database.url, PORT: '0' });
  expect(deployed).toEqual({ code: 0, said: 'The database has the schema of this version.\n' });
  expect(await columns()).toHaveLength(2);
  expect(await npm(['db:deploy'], { PORT: '0' })).toEqual(deployed);
  expect(await npm(['db:migrate', '--', '--name', 'again'], {})).toMatchObject({ code: 0 });
});

test('db:migrate and doctor report an applied migration without a folder, with what to do', async () => {
  const name = '20300101000000_deleted';
  expect((await npm(['doctor'], { DATABASE_URL: database.url, PORT: '0' })).said).toMatch(/^ok +migrations: /m);
  await database.query(
    `INSERT INTO _prisma_migrations (id, checksum, migration_name, finished_at) VALUES ('test', '', '${name}', now())`,
  );
  const { code, said } = await migrate('--name', 'again');
  expect(said).toContain(`The database has migrations that have no folder in prisma/migrations: ${name}.`);
  expect(said).toContain('Undo each by SQL and delete its row of _prisma_migrations, or delete .data/ in development.');
  expect(code).toBe(0);
  const doctor = await npm(['doctor'], { DATABASE_URL: database.url, PORT: '0' });
  expect(doctor.said).toMatch(
    new RegExp(`^look +migrations: .*${name}.*\\n +> during a rolling update do nothing`, 'm'),
  );
  await database.query(`DELETE FROM _prisma_migrations WHERE migration_name = '${name}'`);
});
