import type { z } from 'zod';
import type { FieldError } from './problem.ts';

/** zod's issues as field paths and messages, with an entry of its own for every unknown field. */
export function fieldErrors(error: z.ZodError): FieldError[] {
  return error.issues.flatMap((issue) =>
    issue.code === 'unrecognized_keys'
      ? issue.keys.map((key) => ({
          path: [...issue.path, key].join('.'),
          message: 'is not a field of this request',
        }))
      : [{ path: issue.path.join('.'), message: issue.message }],
  );
}
