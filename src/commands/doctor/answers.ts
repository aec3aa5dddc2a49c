import type { Config } from '../../config.ts';
import type { BackingServices } from '../../config/backing-services.ts';
import type { Extensions } from '../../extensions.ts';
import type { Gateway } from '../../gateway/gateway.ts';
import type { Database } from '../../platform/database/database.ts';
import type { History } from '../../platform/database/migration-history.ts';
import type { Logger } from '../../platform/logger.ts';
import type { Mode } from '../../platform/mode.ts';
import type { ServerState } from './doctor.sql.ts';

/** What is examined. Nothing here migrates, works or writes. */
export type Subject = {
  config: Config;
  services: BackingServices;
  extensions: Extensions;
  mode: Mode;
  gateway: Gateway;
  database: Database;
  logger: Logger;
  /** What the database answered at first. */
  schema: Schema;
};

export type Schema =
  { outcome: 'away'; why: string } | { outcome: 'read'; server: ServerState; history: History };

/** Whether the tables are those that this version asks. */
export function isSchemaComplete(schema: Schema): boolean {
  if (schema.outcome === 'away') return false;
  const { pending, unfinished, edited } = schema.history;
  return pending.length + unfinished.length + edited.length === 0;
}

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

/** For a terminal: the answers by what they are about, and in the last line the sum of them. */
export function formatAnswers({ answers, forAPerson, verdict }: Report): string {
  const groups = [...new Set(answers.map(({ about }) => about))].map((about) =>
    [about, ...answers.filter((answer) => answer.about === about).map(lineOf)].join('\n'),
  );
  const personal = forAPerson.map((says) => `  ?      ${says}`);
  const count = (state: State): number => answers.filter((answer) => answer.state === state).length;
  const sum = verdict === 'ok' ? 'All is well.' : `${count('wrong')} wrong, ${count('look')} to look at.`;
  if (personal.length > 0) groups.push(['what only a person can know', ...personal].join('\n'));
  return [...groups, sum].join('\n\n').replace(CONTROL, '?');
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
type Question = (subject: Subject) => Answers | Promise<Answers>;
type Answers = Answer | readonly Answer[];

export type Topic = {
  about: string;
  questions: readonly Question[];
  /** Whether it reads tables: it is left out while the database is away or lacks migrations. */
  readsTables?: boolean;
};
