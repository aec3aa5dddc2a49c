import { z } from 'zod';
import type { Config, Role } from '../config.ts';
import type { Gateway } from '../gateway/gateway.ts';
import type { ActParts } from '../payments/acts.ts';
import type { Database } from '../platform/db.ts';
import { OWN_NAMES } from '../platform/ids.ts';
import type { Logger } from '../platform/logger.ts';
import { UserFacingError } from '../platform/user-facing-error.ts';
import { write } from '../reporting/words.ts';
import words from './words.json' with { type: 'json' };

const FIELDS: Record<string, string> = words.fields;
const ACTIONS: Record<string, Words> = words.actions;

/** `hasReceiver`: whether this process would deliver messages. */
type Opened = { config: Config; database: Database; gateway: Gateway; logger: Logger; hasReceiver: boolean };
/**
 * What actions work with. `by`: the name of the person who acts; empty where an action only reads.
 */
export type CommandParts = ActParts & Opened & { by: string };

/** What came of it, in words or in pieces of a file; for programs; and the exit code, if not 0. */
export type Outcome = { sentence: string | AsyncIterable<string>; data?: unknown; exitCode?: 0 | 1 | 2 };

/**
 * What it does, what will be once it is done (left out: it only reads), and what is typed, for
 * instance.
 */
type Words = { words: string; effect?: string; example: string };
type Shape = Record<string, z.ZodType>;
type Doing<S extends Shape> = { run(parts: CommandParts, input: z.output<z.ZodObject<S>>): Promise<Outcome> };
/**
 * What an operator can do or look at, written once: a command, and what a form of the console is
 * made from.
 */
export type Action = {
  role: Role;
  name: string;
  positional: string[];
  input: z.ZodObject;
  /** Whether an action that has an effect only reads with this input: then nobody need be named. */
  isReading: (input: Record<string, unknown>) => boolean;
} & Words &
  Doing<Shape>;

/** Fields with what words.json says that each must be. */
export const described = (fields: Shape): z.ZodObject =>
  z.object(Object.fromEntries(Object.entries(fields).map(([name, type]) => [name, type.describe(FIELDS[name] ?? '')])));

/**
 * An action; its words and those of its fields stand in words.json.
 * @param role the least that may do it in the console
 * @param typed its name, and the fields that are typed without theirs: `orders cancel ORDER`
 * @param run throws UserFacingError for what it refuses
 * @param isReading whether it only reads with this input
 */
export function action<S extends Shape>(
  role: Role,
  typed: string,
  fields: S,
  run: Doing<S>['run'],
  isReading: Action['isReading'] = () => false,
): Action {
  const [name = '', ...capitals] = typed.split(/ (?=[A-Z])/);
  const said = ACTIONS[name] ?? { words: '', example: '' };
  const positional = capitals.map((one) => one.toLowerCase());
  return { role, name, positional, input: described(fields), ...said, run, isReading };
}

/** @param why what acts give for their outcome, or another name of a sentence in words.json */
export const refused = (why: keyof typeof words.why, values: Record<string, string> = {}): UserFacingError =>
  new UserFacingError(`Nothing was done. ${write(words.why[why], values)}.`);
/** Not understood (EX_USAGE of sysexits.h), or about something that is not there. */
export const usageError = (sentence: string): UserFacingError => new UserFacingError(sentence, 64);

export const TEXT = z.string().trim().min(1);
export const BY = TEXT.refine((name) => !OWN_NAMES.includes(name.toLowerCase()));
export const FLAG = z.boolean().default(false);
