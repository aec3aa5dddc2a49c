import type { ErrorRequestHandler, Response } from 'express';
import { ZodError, prettifyError } from 'zod';

/** The largest accepted body. */
export const BODY_LIMIT = '64kb';

export type Answer = {
  status: number;
  /** A string is sent as it is, anything else as JSON. */
  body: unknown;
  contentType?: string | undefined;
  headers?: Record<string, string> | undefined;
};

/** The format of all errors. */
export function refusal(status: number, message: string): Answer {
  return { status, body: { status: false, message, code: status, data: {} } };
}

export function send(res: Response, { status, body, contentType = 'application/json', headers }: Answer): void {
  res
    .writeHead(status, { 'content-type': contentType, ...headers })
    .end(typeof body === 'string' ? body : JSON.stringify(body));
}

/** An error for a control route to throw. */
export function httpError(status: number, message: string): Error {
  return Object.assign(new Error(message), { status });
}

/** Answers errors of control routes, and errors of Express about an unreadable body or path. */
export const answerError: ErrorRequestHandler = (error: Error & { status?: number }, _req, res, next) => {
  if (res.headersSent) next(error);
  else if (error instanceof ZodError) send(res, refusal(400, prettifyError(error)));
  else send(res, refusal(error.status ?? 500, error.message));
};
