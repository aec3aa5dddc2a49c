import { CARE } from './care.ts';
import { CASES } from './cases.ts';
import { usageOf } from './command-line.ts';
import { DOCTOR } from './doctor.ts';
import { MESSAGES } from './messages.ts';
import { ORDERS } from './orders.ts';
import type { Action } from './registry.ts';
import { REPORTS } from './reports.ts';

/** Everything that operators can do, sorted by who needs it. */
export const ACTIONS = [...CASES, ...MESSAGES, ...ORDERS, ...REPORTS, DOCTOR, ...CARE];

/** One line for each command. */
export const overview = (): string => ['Commands, each with --help:', ...ACTIONS.map(usageOf)].join('\n  ');

/**
 * The action that words name, and the words after its name; `cases` alone is `cases list`.
 * @returns null: none
 */
export function findAction(words: readonly string[]): { action: Action; rest: readonly string[] } | null {
  const [first = '', second = '--'] = words;
  const names = [`${first} ${second}`, first, ...(second.startsWith('--') ? [`${first} list`] : [])];
  const [action] = names.flatMap((name) => ACTIONS.filter((one) => one.name === name));
  return action === undefined ? null : { action, rest: words.slice(action.name === names[0] ? 2 : 1) };
}
