import type { Program } from '../program.ts';
import { NOT_A_PERSON } from '../cases/resolution.ts';
import { formatList, visible } from '../platform/terminal.ts';
import type { Arguments } from './arguments.ts';

type WorkListArguments = { positionals: string[]; values: Partial<Arguments['values']> };

/** One row of a list, and the same as an object for programs: amounts are decimal texts in major units. */
export type Entry = {
  /** Under the headings of its list. */
  cells: readonly string[];
  below?: readonly string[];
  json: object;
  /** The id, and what else names it: a person may type the first eight letters of any. */
  names?: readonly [id: string, ...others: (string | null)[]];
};

/** What a person asks for: options trimmed, empty ones counted as not given. */
export type Request = { /** Empty where none is needed. */ id: string; by: string } & Partial<
  Record<'note' | 'owner' | 'order' | 'decision' | 'refund' | 'amount' | 'type', string>
>;

export type Subcommand = {
  /** How it is typed, after `npm run <list> --`. */
  usage: string;
  needs: readonly ('note' | 'owner' | 'order' | 'refund' | 'amount')[];
  /** About the whole list, and not about one of its items. */
  isOfAll?: boolean;
  /**
   * @returns what to tell the person and whether it was done
   * @throws {WorkListError} for what cannot be done
   */
  perform(program: Program, request: Request): Promise<{ isDone: boolean; told: string }>;
};

export type ListCommand = {
  name: string;
  empty: string;
  headings: readonly string[];
  /** What an id looks like. */
  id: RegExp;
  list(program: Program, options: { since?: string }): Promise<Entry[]>;
  /** What is not on the list and must be known to read it; null: nothing. */
  notice?(program: Program, options: { since?: string }): Promise<string | null>;
  subcommands: Record<string, Subcommand>;
};

/** Typed wrongly. The message says what to type. */
export class WorkListError extends Error {}

/** `list`, or a subcommand that the list lets a person do. @returns the exit code */
export async function workList(
  program: Program,
  list: ListCommand,
  { positionals, values }: WorkListArguments,
): Promise<number> {
  const [verb = 'list', id, ...more] = positionals;
  if (verb === 'list') {
    const notice = (await list.notice?.(program, values)) ?? null;
    return print(list, await list.list(program, values), notice, values.json === true);
  }
  try {
    const subcommand = Object.hasOwn(list.subcommands, verb) ? list.subcommands[verb] : undefined;
    const whole = subcommand && (await wholeId(program, list, id));
    const request = subcommand && more.length === 0 ? requestOf(subcommand, list.id, whole, values) : null;
    if (!subcommand || !request) throw new WorkListError(usageOf(list, subcommand));
    const { isDone, told } = await subcommand.perform(program, request);
    process.stdout.write(`${told}\n`);
    return isDone ? 0 : 1;
  } catch (error) {
    if (!(error instanceof WorkListError)) throw error;
    process.stderr.write(`${error.message}\n`);
    return 64;
  }
}

const SHORT_ID = /^(?:(?:rel|evt)_)?[A-Za-z0-9]{8,24}$/;

/** @returns what was typed, unless it is the beginning of what names one entry of the list: the id of that */
async function wholeId(
  program: Program,
  list: ListCommand,
  typed: string | undefined,
): Promise<string | undefined> {
  if (typed === undefined || list.id.test(typed) || !SHORT_ID.test(typed)) return typed;
  const meant = (await list.list(program, {})).flatMap(({ names = [''] }) =>
    names.some((name) => name?.startsWith(typed)) ? [names[0]] : [],
  );
  if (meant.length > 1) throw new WorkListError(`${typed} may be ${meant.join(' or ')}: type one of them`);
  if (meant[0] === undefined)
    throw new WorkListError(`no entry of npm run ${list.name} begins with ${typed}`);
  return meant[0];
}

function print(
  { empty, headings }: ListCommand,
  entries: readonly Entry[],
  notice: string | null,
  asJson: boolean,
): number {
  // References and notes come from people and from outside: they must not control the terminal.
  const rows = entries.map(({ cells, below = [] }) => ({
    cells: cells.map((cell) => visible(cell)),
    below: below.map((line) => visible(line)),
  }));
  const told = [
    ...(rows.length === 0 ? [] : [formatList(headings, rows)]),
    // Not wrapped: a command in it can be copied.
    ...(notice === null ? [] : [notice]),
  ];
  const text = told.length === 0 ? empty : told.join('\n\n');
  process.stdout.write(`${asJson ? JSON.stringify(entries.map(({ json }) => json)) : text}\n`);
  if (asJson && notice !== null) process.stderr.write(`${notice}\n`);
  return 0;
}

/** @returns null when something is missing. @throws {WorkListError} when the name is not a person's */
function requestOf(
  { needs, isOfAll = false }: Subcommand,
  pattern: RegExp,
  id: string | undefined,
  values: WorkListArguments['values'],
): Request | null {
  const given = (['by', 'note', 'owner', 'order', 'decision', 'refund', 'amount', 'type'] as const).flatMap(
    (option) => {
      const text = values[option]?.trim();
      return text ? [[option, text] as const] : [];
    },
  );
  const { by, ...rest } = Object.fromEntries(given) as Partial<Request>;
  if (by === undefined || (isOfAll ? id !== undefined : id === undefined || !pattern.test(id))) return null;
  if (needs.some((option) => rest[option] === undefined)) return null;
  // Its journal entries could not be distinguished from the program's own.
  if (NOT_A_PERSON.includes(by)) throw new WorkListError(`"${by}" is not a person: give your name with --by`);
  return { id: id ?? '', by, ...rest };
}

function usageOf({ name, subcommands }: ListCommand, subcommand: Subcommand | undefined): string {
  const usages = [...new Set(subcommand ? [subcommand] : Object.values(subcommands))].map(
    ({ usage }) => usage,
  );
  return usages.map((usage) => `type: npm run ${name} -- ${usage}`).join('\n');
}
