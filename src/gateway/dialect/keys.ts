import type { z } from 'zod';
import { dialectSchema } from './schema.ts';

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
