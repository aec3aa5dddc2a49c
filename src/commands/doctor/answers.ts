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
