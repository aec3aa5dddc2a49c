import { config as loadEnvFile } from 'dotenv';
import { fileURLToPath } from 'node:url';
import { UserFacingError } from '../src/platform/user-facing-error.ts';
import { failStart, runProcess, type Running } from '../src/process.ts';

/*
 * The entry point for npm in a checkout: the server, a worker or a command as in production, or the
 * creation of a migration. If no database or payment service is configured, it starts its own. The
 * first process runs them, and other processes use the same ones.
 */

/**
 * A part that this process or another one runs. If another process runs it, closing does nothing.
 */
type Part = { url: string; close(): Promise<void> };

const EXIT_BAD_CONFIG = 78;
const DATA = '.data/postgres';
const SANDBOX_KEY = 'sk_test_sandbox_no_real_money';
const SANDBOX_SECRET = 'sandbox_no_real_money';
const SANDBOX_ADAPTER = fileURLToPath(new URL('sandbox-adapter.ts', import.meta.url));

loadEnvFile({ quiet: true });
const [what = 'server', ...words] = process.argv.slice(2);
if (what === 'server') await runProcess(serve);
else if (what === 'worker') await runProcess(work);
else if (what === 'cli') process.exitCode = await command().catch(failStart);
else if (what === 'migrate') process.exitCode = await migrate().catch(failStart);
else
  failStart(
    new UserFacingError(`There is no program ${what}. Use npm start, npm run worker, or npm run cli -- COMMAND`, 64),
  );

async function serve(): Promise<Running> {
  const adapter = adapterInUse();
  const [parts, { startServer }] = await Promise.all([fillIn(), import('../src/server.ts')]);
  const server = await startServer();
  const told = [`\nThe server is at ${server.url}`];
  if (parts.database !== null) told.push(`Database  an embedded PostgreSQL, kept in ${DATA}`);
  if (parts.sandbox !== null)
    told.push(
      `Payments  the sandbox at ${parts.sandbox.url}/sandbox/ moves no money, and forgets its payments when it ends`,
    );
  told.push(`Adapter   ${adapter}`);
  process.stderr.write(`${told.join('\n')}\n\n`);
  return { ...server, close: () => server.close().finally(parts.close) };
}

/**
 * Which adapter reads the service's answers, and why. Call it before the sandbox configures its
 * own.
 */
function adapterInUse(): string {
  if (given('GATEWAY_ADAPTER') !== '') return `${given('GATEWAY_ADAPTER')}, because GATEWAY_ADAPTER names it`;
  if (given('GATEWAY_URL') !== '') return 'src/custom/service.ts, because GATEWAY_URL is set';
  const why = 'because GATEWAY_URL is not set and the sandbox answers';
  return `local/sandbox-adapter.ts, ${why}; set GATEWAY_URL to use src/custom/service.ts`;
}

async function work(): Promise<Running> {
  const [parts, { startWorker }] = await Promise.all([fillIn(), import('../src/worker.ts')]);
  const worker = await startWorker();
  return { ...worker, close: () => worker.close().finally(parts.close) };
}

async function command(): Promise<number> {
  const { runCommand } = await import('../src/cli.ts');
  if (words.length === 0 || words.includes('--help')) return runCommand(words);
  const parts = await fillIn();
  return runCommand(words).finally(parts.close);
}

/** Writes a migration from the existing migrations to schema.prisma. */
async function migrate(): Promise<number> {
  const { migrationName, writeMigration } = await import('./migrate.ts');
  const name = migrationName(words);
  const isMeant = given('NODE_ENV') !== 'production';
  const database = isMeant && given('DATABASE_URL') === '' ? await openDatabase() : null;
  const url = database?.url ?? given('DATABASE_URL');
  if (url === '')
    throw new UserFacingError('DATABASE_URL is missing. Set it to the database to migrate.', EXIT_BAD_CONFIG);
  try {
    process.stdout.write(await writeMigration(url, name));
  } finally {
    await database?.close();
  }
  return 0;
}

/** Starts the parts that are not configured, and configures them. */
async function fillIn(): Promise<{ database: Part | null; sandbox: Part | null; close(): Promise<void> }> {
  // These parts are never used in production or with a live key. The configuration then reports
  // what is missing.
  const isMeant = given('NODE_ENV') !== 'production' && !given('GATEWAY_SECRET_KEY').startsWith('sk_live_');
  const database = isMeant && given('DATABASE_URL') === '' ? await openDatabase() : null;
  const sandbox = isMeant && given('GATEWAY_URL') === '' ? await openSandbox() : null;
  if (database !== null) process.env.DATABASE_URL = database.url;
  if (sandbox !== null) process.env.GATEWAY_URL = sandbox.url;
  return {
    database,
    sandbox,
    close: async () => {
      await Promise.all([database?.close(), sandbox?.close()]);
    },
  };
}

async function openDatabase(): Promise<Part> {
  const { startPostgres } = await import('./postgres.ts');
  // A command uses the database exclusively, because it ends soon and would stop the database for
  // others.
  const { url, stop } = await startPostgres({ folder: DATA, exclusive: what !== 'server' && what !== 'worker' });
  return { url, close: stop };
}

// The sandbox listens on the port after the server's, where other processes find it. It signs with
// the newest known secret.
async function openSandbox(): Promise<Part> {
  const { startSandbox } = await import('./sandbox/sandbox.ts');
  process.env.GATEWAY_SECRET_KEY = given('GATEWAY_SECRET_KEY') || SANDBOX_KEY;
  process.env.WEBHOOK_SECRETS = given('WEBHOOK_SECRETS') || SANDBOX_SECRET;
  process.env.GATEWAY_ADAPTER = given('GATEWAY_ADAPTER') || SANDBOX_ADAPTER;
  const serverPort = Number(given('PORT') || 3_000);
  const port = serverPort > 0 && serverPort < 65_535 ? serverPort + 1 : 0;
  const webhookUrl = port === 0 ? null : `http://localhost:${serverPort}/webhooks/payments`;
  const [webhookSecret = ''] = given('WEBHOOK_SECRETS').split(',');
  try {
    return await startSandbox({ port, key: given('GATEWAY_SECRET_KEY'), webhookUrl, webhookSecret });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
    const url = `http://127.0.0.1:${port}`;
    const page = await fetch(`${url}/sandbox/`).catch(() => null);
    if ((await page?.text())?.includes('Payment sandbox') === true) return { url, close: () => Promise.resolve() };
    throw new UserFacingError(
      `Port ${port}, which the sandbox needs, is used by another program. Set PORT to another port, or set GATEWAY_URL.`,
    );
  }
}

/** A variable without surrounding white space and quotes. */
function given(name: string): string {
  return (process.env[name] ?? '').replace(/^[\s"']+|[\s"']+$/g, '');
}
