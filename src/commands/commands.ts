import { CARE } from './care.ts';
import { CASES } from './cases.ts';
import { usageOf } from './command-line.ts';
import { DOCTOR } from './doctor.ts';
import { MESSAGES } from './messages.ts';
import { ORDERS } from './orders.ts';
import type { Action } from './registry.ts';
import { REPORTS } from './reports.ts';

/** All actions of operators, grouped by the task. */
export const ACTIONS = [...CASES, ...MESSAGES, ...ORDERS, ...REPORTS, DOCTOR, ...CARE];

/** One line per command. */
export const overview = (): string => ['Commands, each with --help:', ...ACTIONS.map(usageOf)].join('\n  ');

/**
 * Finds the action that the words name, and the words after its name. `cases` alone means `cases
 * list`.
 * @returns null if there is no such action
 */
export function findAction(words: readonly string[]): { action: Action; rest: readonly string[] } | null {
  const [first = '', second = '--'] = words;
  const names = [`${first} ${second}`, first, ...(second.startsWith('--') ? [`${first} list`] : [])];
  const [action] = names.flatMap((name) => ACTIONS.filter((one) => one.name === name));
  return action === undefined ? null : { action, rest: words.slice(action.name === names[0] ? 2 : 1) };
}
