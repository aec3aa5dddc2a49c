import type { z } from 'zod';
import { dialectSchema } from './schema.ts';

/** The largest edit distance between a mistyped name and the name that is suggested for it. */
const MAX_DISTANCE = 3;

/** What is wrong with a dialect file: each fault with the path of its key, and what was probably meant. */
export function faultsIn(error: z.ZodError): string[] {
  return error.issues.flatMap((issue) => {
    const place = `/${issue.path.map(String).join('/')}`;
    if (issue.code === 'unrecognized_keys')
      return issue.keys.map(
        (key) =>
          `${place === '/' ? '' : place}/${key}: is no key of the dialect${suggestion(key, issue.path)}`,
      );
    return [`${place}: ${inWords(issue)}`];
  });
}

function inWords(issue: z.core.$ZodIssue): string {
  if (issue.code === 'invalid_value') return `must be ${anyOf(issue.values)}`;
  if (issue.code === 'invalid_type') return `must be ${KINDS[issue.expected] ?? issue.expected}`;
  if (issue.code === 'too_big') return `must be at most ${issue.maximum}`;
  if (issue.code === 'too_small') return EMPTY[issue.origin] ?? `must be at least ${issue.minimum}`;
  return issue.message;
}

const KINDS: Record<string, string> = {
  array: 'a list, like ["/data/reference"]',
  object: 'an object, like {"reference": ["/data/reference"]}',
  string: 'a text in quotes',
  int: 'a whole number',
  number: 'a number',
  boolean: 'true or false',
};
const EMPTY: Record<string, string> = {
  array: 'must name at least one pointer, for example "/data/reference"',
  string: 'must not be empty',
};

function anyOf(values: readonly unknown[]): string {
  return values.map((value) => JSON.stringify(value)).join(' or ');
}

function suggestion(key: string, path: readonly PropertyKey[]): string {
  const here = namesAt(path);
  const near = nearest(key, here);
  if (near !== null) return `; did you mean "${near}"?`;
  const elsewhere = DIALECT_KEYS.filter((pointer) => pointer.endsWith(`/${key}`));
  if (elsewhere.length > 0 && elsewhere.length <= 3)
    return `; did you mean ${elsewhere.map((pointer) => `"${pointer}"`).join(' or ')}?`;
  return here.length === 0 ? '' : `; there may stand: ${here.join(', ')}`;
}

function nearest(key: string, names: readonly string[]): string | null {
  const [best] = names
    .map((name) => ({ name, distance: distanceBetween(key.toLowerCase(), name.toLowerCase()) }))
    .filter(({ name, distance }) => distance <= Math.min(MAX_DISTANCE, name.length / 2))
    .sort((a, b) => a.distance - b.distance);
  return best?.name ?? null;
}

/**
 * The Levenshtein distance: how many letters must be inserted, deleted or changed to turn one
 * text into the other.
 */
function distanceBetween(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_none, at) => at);
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const change = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(change, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}

/** The keys of a dialect, read from its schema, so that messages and tables name only keys that exist. */

type Shape = Record<string, z.core.$ZodType>;

/**
 * The members of an object's schema, without its wrappers for defaults, nulls and transforms; null: it is no
 * object.
 */
function shapeOf(schema: z.core.$ZodType): Shape | null {
  const { def } = schema._zod;
  if ('shape' in def) return def.shape as Shape;
  if ('in' in def) return shapeOf(def.in as z.core.$ZodType);
  return 'innerType' in def ? shapeOf(def.innerType as z.core.$ZodType) : null;
}

/** The keys that the object at `path` may have; empty where there is no object. */
export function namesAt(path: readonly PropertyKey[]): string[] {
  let schema: z.core.$ZodType | undefined = dialectSchema;
  for (const key of path) schema = schema && shapeOf(schema)?.[String(key)];
  return Object.keys((schema && shapeOf(schema)) ?? {});
}

/** Every key that holds a value and no further keys, as a pointer: `/verify/amount`. */
export const DIALECT_KEYS: readonly string[] = keysBelow('', dialectSchema);

function keysBelow(pointer: string, schema: z.core.$ZodType): string[] {
  const shape = shapeOf(schema);
  if (shape === null) return [pointer];
  return Object.entries(shape).flatMap(([name, member]) => keysBelow(`${pointer}/${name}`, member));
}
