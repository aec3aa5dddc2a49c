import type { Request, RequestHandler, Response } from 'express';
import type { z } from 'zod';

export function setting<T extends z.ZodType>(
  schema: T,
  deed: (input: z.infer<T>) => void | Promise<void>,
): RequestHandler {
  return withBody(schema, async (input, _req, res) => {
    await deed(input);
    res.status(204).end();
  });
}

export function withBody<T extends z.ZodType>(
  schema: T,
  handle: (input: z.infer<T>, req: Request, res: Response) => void | Promise<void>,
): RequestHandler {
  return async (req, res) => {
    const input = schema.safeParse(req.body ?? {});
    if (input.success) await handle(input.data, req, res);
    else
      res
        .status(422)
        .json({ error: input.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`) });
  };
}
