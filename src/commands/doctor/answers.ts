import { isSchemaComplete, type Subject } from './subject.ts';

/**
 * - `ok`: as it should be.
 * - `look`: it works, and a person should know it.
 * - `wrong`: it does not work, or could not be asked.
 */
export type State = 'ok' | 'look' | 'wrong';

/** One sentence about one thing. What is not `ok` comes with the command or the variable to type. */
export type Answer = { state: 'ok'; says: string } | { state: 'look' | 'wrong'; says: string; todo: string };

export const ok = (says: string): Answer => ({ state: 'ok', says });
export const look = (says: string, todo: string): Answer => ({ state: 'look', says, todo });
export const wrong = (says: string, todo: string): Answer => ({ state: 'wrong', says, todo });

export type Report = {
  mode: string;
  /** The worst state of all answers. */
  verdict: State;
  answers: readonly ({ about: string } & Answer)[];
  /** What only a person can know. */
  forAPerson: readonly string[];
};

const EXIT_CODES: Record<State, number> = { ok: 0, look: 1, wrong: 2 };

export function exitCodeOf({ verdict }: Report): number {
  return EXIT_CODES[verdict];
}

export function reportOf(mode: string, answers: Report['answers'], forAPerson: readonly string[]): Report {
  const has = (state: State): boolean => answers.some((answer) => answer.state === state);
  return { mode, verdict: has('wrong') ? 'wrong' : has('look') ? 'look' : 'ok', answers, forAPerson };
}

/** For a terminal: the answers by what they are about, and in the last line the sum of them. */
export function formatAnswers({ answers, forAPerson, verdict }: Report): string {
  const groups = [...new Set(answers.map(({ about }) => about))].map((about) =>
    [about, ...answers.filter((answer) => answer.about === about).map(lineOf)].join('\n'),
  );
  const personal = forAPerson.map((says) => `  ?      ${says}`);
  const count = (state: State): number => answers.filter((answer) => answer.state === state).length;
  const sum = verdict === 'ok' ? 'All is well.' : `${count('wrong')} wrong, ${count('look')} to look at.`;
  return [
    ...groups,
    ...(personal.length === 0 ? [] : [['what only a person can know', ...personal].join('\n')]),
    sum,
  ]
    .join('\n\n')
    .replace(CONTROL, '?');
}

// A sentence may quote what came from outside: its control characters must not reach the terminal.
const CONTROL = /[^\P{C}\n]/gu;

function lineOf(answer: Answer): string {
  const line = `  ${answer.state.padEnd(5)}  ${answer.says}`;
  return answer.state === 'ok' ? line : `${line}\n         > ${answer.todo}`;
}

/** `1 order`, `2 orders`. */
export function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`;
}

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
