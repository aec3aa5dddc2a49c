import { parseArgs } from 'node:util';
import { z } from 'zod';
import { BY, described, FLAG, usageError, type Action } from './registry.ts';

// The command line of an action follows from its input.

const COMMON = described({ by: BY, json: FLAG });
const inputOf = ({ input, effect }: Action) =>
  input.extend((effect === undefined ? COMMON.omit({ by: true }) : COMMON).shape).strict();

/**
 * `typed`: ORDER, --note NOTE, --elsewhere.
 * @param input those of a form are without `by` and `json`
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
 * Reads what was typed after the name of an action.
 * @param user who acts where nobody is named; null: then somebody must be
 * @throws {UserFacingError} (64) for what it does not know, what is missing, and bad values: what
 * to do
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
    // Its further sentences are about words that begin with a dash.
    throw refuse((error as Error).message.split(/\.\s/)[0] ?? '');
  }
  const input = action.isReading(given) ? inputOf(action).partial({ by: true }) : inputOf(action);
  const parsed = input.safeParse(given);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    const field = fields.find(({ name }) => name === issue?.path[0]);
    if (field === undefined) throw refuse(issue?.message ?? '');
    throw refuse(`${field.typed} ${field.name in given ? 'is not right' : 'is needed'}: ${field.description}`);
  }
  const { by = '', json: isJson, ...typed } = parsed.data;
  return { input: typed, by: String(by), isJson: isJson === true };
}
