import { parseArgs } from 'node:util';
import { z } from 'zod';
import { BY, described, FLAG, usageError, type Action } from './registry.ts';

// The command line of an action is derived from its input.

const COMMON = described({ by: BY, json: FLAG });
const inputOf = ({ input, effect }: Action) =>
  input.extend((effect === undefined ? COMMON.omit({ by: true }) : COMMON).shape).strict();

/**
 * The fields as they are typed: ORDER, --note NOTE, --elsewhere.
 * @param input the input of a form has neither `by` nor `json`
 */
export function fieldsOf(action: Action, input = inputOf(action)) {
  const { properties = {}, required = [] } = z.toJSONSchema(input, { io: 'input', unrepresentable: 'any' });
  return Object.entries(properties).map(([name, schema]) => {
    const { type, enum: words, description = '' } = schema as z.core.JSONSchema.JSONSchema;
    const [isFlag, word] = [type === 'boolean', words?.join('|') ?? name.toUpperCase()];
    const option = isFlag ? `--${name}` : `--${name} ${word}`;
    const typed = action.positional.includes(name) ? word : option;
    return { name, typed, description, isFlag, isNeeded: required.includes(name) && name !== 'by' };
  });
}

export function usageOf(action: Action): string {
  const fields = fieldsOf(action).map(({ typed, isNeeded }) => (isNeeded ? typed : `[${typed}]`));
  return [action.name, ...fields].join(' ');
}

export function helpOf(action: Action): string {
  const { name, words, effect = '', example } = action;
  const fields = fieldsOf(action).map(({ typed, description }) => `  ${typed.padEnd(24)}  ${description}`);
  const said = `${words} ${effect}`.trim();
  return [usageOf(action), '', said, '', ...fields, '', `For instance: npm run cli -- ${name} ${example}`].join('\n');
}

/**
 * Reads the words after the name of an action.
 * @param user acts if `--by` is missing; if it is null, `--by` is required
 * @throws {UserFacingError} (64) for unknown words, missing fields and bad values; the message says
 * what to do
 */
export function readInput(action: Action, words: readonly string[], user: string | null) {
  const refuse = (why: string) => usageError(`${why}.\nUsage: ${usageOf(action)}`);
  const fields = fieldsOf(action);
  const given: Record<string, unknown> = action.effect !== undefined && user !== null ? { by: user } : {};
  try {
    const options = fields.map(({ name, isFlag }) => [name, { type: isFlag ? 'boolean' : 'string' }] as const);
    const typed = { args: [...words], options: Object.fromEntries(options), allowPositionals: true };
    const { values, positionals } = parseArgs(typed);
    Object.assign(given, values, ...positionals.map((word, index) => ({ [action.positional[index] ?? word]: word })));
  } catch (error) {
    // The further sentences of the message are about words that begin with a dash.
    throw refuse((error as Error).message.split(/\.\s/)[0] ?? '');
  }
  const input = action.isReading(given) ? inputOf(action).partial({ by: true }) : inputOf(action);
  const parsed = input.safeParse(given);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    const field = fields.find(({ name }) => name === issue?.path[0]);
    if (field === undefined) throw refuse(issue?.message ?? '');
    throw refuse(`${field.typed} ${field.name in given ? 'is not valid' : 'is missing'}: ${field.description}`);
  }
  const { by = '', json: isJson, ...typed } = parsed.data;
  return { input: typed, by: String(by), isJson: isJson === true };
}
