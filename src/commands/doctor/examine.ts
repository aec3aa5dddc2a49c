import type { PrepareBackingServices } from '../../config/backing-services.ts';
import type { Config } from '../../config.ts';
import { EXTENSIONS } from '../../custom/index.ts';
import { createLogger } from '../../platform/logger.ts';
import { exitCodeOf, formatAnswers, type Report, askAll, type Topic } from './answers.ts';
import { BOOKS } from './books.ts';
import { CONFIGURATION } from './configuration.ts';
import { DATABASE } from './database.ts';
import { FOR_A_PERSON, GO_LIVE } from './go-live.ts';
import { SERVICE } from './service.ts';
import { openSubject, type SubjectParts } from './subject.ts';
import { WORK } from './work.ts';

type Examination = { topics: readonly Topic[]; forAPerson?: Report['forAPerson'] };

/** The commands that only look, by name. */
export const EXAMINATIONS: Readonly<Record<string, Examination>> = {
  doctor: { topics: [CONFIGURATION, DATABASE, SERVICE, WORK, BOOKS] },
  'go-live': { topics: GO_LIVE, forAPerson: FOR_A_PERSON },
};

/** Examines an installation as it stands. What does not answer becomes an answer, too. */
export async function examine({ topics, forAPerson }: Examination, parts: SubjectParts): Promise<Report> {
  const subject = await openSubject(parts);
  return askAll(subject, topics, forAPerson).finally(subject.close);
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
