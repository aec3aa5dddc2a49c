import { fileURLToPath } from 'node:url';
import { MIGRATIONS } from '../../compose.ts';
import type { Config } from '../../config.ts';
import type { PrepareBackingServices } from '../../config/backing-services.ts';
import { gatewayOf } from '../../connections.ts';
import { EXTENSIONS } from '../../custom/index.ts';
import { explainConnectionError } from '../../platform/database/address.ts';
import { readApplied } from '../../platform/database/apply-migration.ts';
import { openDatabase, type Database } from '../../platform/database/database.ts';
import {
  compareHistory,
  readMigrations,
  readShopMigrations,
} from '../../platform/database/migration-history.ts';
import { createLogger } from '../../platform/logger.ts';
import {
  exitCodeOf,
  formatAnswers,
  isSchemaComplete,
  wrong,
  type Report,
  type Schema,
  type Subject,
  type Topic,
} from './answers.ts';
import { BOOKS } from './books.ts';
import { CONFIGURATION } from './configuration.ts';
import { DATABASE, SERVICE } from './connections.ts';
import { serverState } from './doctor.sql.ts';
import { FOR_A_PERSON, GO_LIVE } from './go-live.ts';
import { WORK } from './work.ts';

type Examination = { topics: readonly Topic[]; forAPerson?: Report['forAPerson'] };

/** The commands that only look, by name. */
export const EXAMINATIONS: Readonly<Record<string, Examination>> = {
  doctor: { topics: [CONFIGURATION, DATABASE, SERVICE, WORK, BOOKS] },
  'go-live': { topics: GO_LIVE, forAPerson: FOR_A_PERSON },
};

type SubjectParts = Pick<Subject, 'config' | 'services' | 'extensions' | 'logger'>;

/** Examines an installation as it stands. What does not answer becomes an answer, too. */
export async function examine({ topics, forAPerson }: Examination, parts: SubjectParts): Promise<Report> {
  // Both open, whether or not anything answers.
  const database = openDatabase(parts.services.databaseUrl, parts.logger);
  const gateway = gatewayOf(parts, () => Promise.resolve());
  try {
    const schema = await readSchema(database, parts);
    return await askAll({ ...parts, mode: gateway.mode, gateway, database, schema }, topics, forAPerson);
  } finally {
    await gateway.close();
    await database.close();
  }
}

async function readSchema(database: Database, { services, extensions }: SubjectParts): Promise<Schema> {
  const ours = await readMigrations(MIGRATIONS);
  const theirs = await readShopMigrations(extensions.migrations && fileURLToPath(extensions.migrations));
  try {
    const server = await serverState(database);
    const history = compareHistory([...ours, ...theirs], await readApplied(database.sessions));
    return { outcome: 'read', server, history };
  } catch (error) {
    return { outcome: 'away', why: explainConnectionError(error, services.databaseUrl.reveal()).message };
  }
}

/** Asks everything, one thing after the other: looking must not be a load. */
async function askAll(
  subject: Subject,
  topics: readonly Topic[],
  forAPerson: Report['forAPerson'] = [],
): Promise<Report> {
  const answers: Report['answers'][number][] = [];
  const asked = topics.filter(({ readsTables }) => readsTables !== true || isSchemaComplete(subject.schema));
  for (const { about, questions } of asked)
    for (const question of questions)
      for (const answer of [await answersTo(question, subject)].flat()) answers.push({ about, ...answer });
  const has = (state: string): boolean => answers.some((answer) => answer.state === state);
  const verdict = has('wrong') ? 'wrong' : has('look') ? 'look' : 'ok';
  return { mode: subject.mode, verdict, answers, forAPerson };
}

async function answersTo(question: Topic['questions'][number], subject: Subject) {
  try {
    return await question(subject);
  } catch (error) {
    const says = `This could not be asked: ${(error as Error).message}.`;
    return wrong(says, 'look into the log of PostgreSQL');
  }
}

/** The same as a command does it: this shop, on the backing services that it is configured for. */
export async function examineThisShop(
  examination: Examination,
  config: Config,
  prepare: PrepareBackingServices,
  { purpose, asJson }: { purpose: string; asJson: boolean },
): Promise<{ text: string; exitCode: number }> {
  // What fails is printed as an answer, and only once.
  const logger = createLogger('silent', process.stderr);
  const services = await prepare({ config, purpose, attachIfRunning: true, logger });
  const parts = { config, services, extensions: EXTENSIONS, logger };
  const report = await examine(examination, parts).finally(services.close);
  return { text: asJson ? JSON.stringify(report) : formatAnswers(report), exitCode: exitCodeOf(report) };
}
