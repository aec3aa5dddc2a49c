import { reportOf, wrong, type Answer, type Report } from './answers.ts';
import { isSchemaComplete, type Subject } from './subject.ts';

/** Asks about one thing; it changes nothing. What it throws becomes an answer that is `wrong`. */
type Question = (subject: Subject) => readonly Answer[] | Promise<readonly Answer[]>;

export type Topic = {
  about: string;
  questions: readonly Question[];
  /** Whether it reads tables: it is left out while the database is away or lacks migrations. */
  readsTables?: boolean;
};

/** Asks everything, one thing after the other: looking must not be a load. */
export async function askAll(
  subject: Subject,
  topics: readonly Topic[],
  forAPerson: Report['forAPerson'] = [],
): Promise<Report> {
  const answers: ({ about: string } & Answer)[] = [];
  const asked = topics.filter(({ readsTables }) => readsTables !== true || isSchemaComplete(subject.schema));
  for (const { about, questions } of asked)
    for (const question of questions)
      for (const answer of await answersTo(question, subject)) answers.push({ about, ...answer });
  return reportOf(subject.mode, answers, forAPerson);
}

async function answersTo(question: Question, subject: Subject): Promise<readonly Answer[]> {
  try {
    return await question(subject);
  } catch (error) {
    return [
      wrong(`This could not be asked: ${(error as Error).message}.`, 'look into the log of PostgreSQL'),
    ];
  }
}
