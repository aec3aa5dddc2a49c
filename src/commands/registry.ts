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
 * Everything that actions work with. `by` is the name of the person who acts. It is empty if an
 * action only reads.
 */
export type CommandParts = ActParts & Opened & { by: string };

/**
 * The result of an action: text for people, or the pieces of a file; data for programs; and the
 * exit code if it is not 0.
 */
export type Outcome = { sentence: string | AsyncIterable<string>; data?: unknown; exitCode?: 0 | 1 | 2 };

/** The description, the effect (omitted if the action only reads), and an example of the input. */
type Words = { words: string; effect?: string; example: string };
type Shape = Record<string, z.ZodType>;
type Doing<S extends Shape> = { run(parts: CommandParts, input: z.output<z.ZodObject<S>>): Promise<Outcome> };
/** An action of an operator. Commands and forms of the console are both made from it. */
export type Action = {
  role: Role;
  name: string;
  positional: string[];
  input: z.ZodObject;
  /** Whether an action that has an effect only reads with this input. Then no name is needed. */
  isReading: (input: Record<string, unknown>) => boolean;
} & Words &
  Doing<Shape>;

/** Adds to each field its description from words.json. */
export const described = (fields: Shape): z.ZodObject =>
  z.object(Object.fromEntries(Object.entries(fields).map(([name, type]) => [name, type.describe(FIELDS[name] ?? '')])));

/**
 * Defines an action. Its texts and those of its fields are in words.json.
 * @param role the lowest role that may use it in the console
 * @param typed its name, and the fields that are typed without their names: `orders cancel ORDER`
 * @param run throws UserFacingError if it refuses
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

/** @param why the outcome of an act, or another name of a reason in words.json */
export const refused = (why: keyof typeof words.why, values: Record<string, string> = {}): UserFacingError =>
  new UserFacingError(`Nothing was done. ${write(words.why[why], values)}.`);
/**
 * The input was not understood (EX_USAGE of sysexits.h), or it names something that does not exist.
 */
export const usageError = (sentence: string): UserFacingError => new UserFacingError(sentence, 64);

export const TEXT = z.string().trim().min(1);
export const BY = TEXT.refine((name) => !OWN_NAMES.includes(name.toLowerCase()));
export const FLAG = z.boolean().default(false);
