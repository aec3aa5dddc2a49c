import type { Request, RequestHandler, Response } from 'express';
import { randomUUID } from 'node:crypto';
import { pino, type DestinationStream, type Logger } from 'pino';
import { pinoHttp } from 'pino-http';

export type { Logger };

/**
 * JSON lines. Messages are lower-case facts, their data is in fields, and the payment's reference
 * is in every line about that payment. Bodies, headers and e-mail addresses are never logged.
 * @param level of pino, or `silent`
 * @param destination left out: standard output; a command's result belongs there, so its log goes
 * elsewhere
 */
export function createLogger(level: string, destination: DestinationStream = pino.destination(1)): Logger {
  const timestamp = pino.stdTimeFunctions.isoTime;
  return pino({ level, base: null, timestamp, serializers: { err: describeError } }, destination);
}

type ErrorDescription = { type: string; message?: string; code?: string; stack?: string; cause?: ErrorDescription };

/** What of an error may be logged. Libraries attach connections, requests and passwords to it. */
function describeError(error: unknown, depth = 0): ErrorDescription {
  if (!(error instanceof Error)) return { type: typeof error, message: 'thrown, and no error' };
  const { name, message, stack = '', cause, code } = error as Error & { code?: unknown };
  // The stack repeats the message, and one of several lines may look like a frame.
  const behind = stack.slice(Math.max(0, stack.indexOf(message)) + message.length);
  const frames = behind.match(/^ {4}at .+$/gm) ?? [];
  return {
    type: name,
    ...(!isOfDatabase(error) && { message: withoutAddresses(message) }),
    ...(typeof code === 'string' && { code }),
    ...(depth === 0 && { stack: frames.join('\n') }),
    ...(cause !== undefined && depth < 3 && { cause: describeError(cause, depth + 1) }),
  };
}

/**
 * Errors of PostgreSQL and Prisma quote rows, and rows hold people. By shape: their classes are not
 * one family.
 */
function isOfDatabase(error: Error): boolean {
  return (
    /^Prisma|^DriverAdapter/.test(error.name) || ('severity' in error && 'code' in error) || 'clientVersion' in error
  );
}

/** Characters of an error's message that are logged. */
const MESSAGE_LENGTH = 2_000;

/**
 * Also takes the password out of an address like `postgres://user:password@host`. The text is cut
 * first, because the time of the replacement grows with the square of a text without spaces.
 */
function withoutAddresses(text: string): string {
  return text.slice(0, MESSAGE_LENGTH).replace(/[^\s@"'<>(),]+(?=@)/g, '…');
}

/**
 * One line for each request: method, path, status, milliseconds, and an id that is also in the
 * lines which handlers log by `req.log`. The questions of load balancers (/healthz, /readyz) are
 * told at `debug`.
 */
export function accessLog(logger: Logger): RequestHandler {
  return pinoHttp<Request, Response>({
    logger,
    genReqId: () => randomUUID(),
    customAttributeKeys: { reqId: 'requestId' },
    // These keep headers out of every line, and our own serializer of errors in `req.log`.
    quietReqLogger: true,
    quietResLogger: true,
    wrapSerializers: false,
    serializers: { req: () => undefined },
    customLogLevel: (req) => (/^\/(healthz|readyz)\/?(\?|$)/i.test(req.originalUrl) ? 'debug' : 'info'),
    customSuccessObject: (req, res, { responseTime }: Timed) => accessFields(req, res, responseTime),
    customErrorObject: (req, res, _error, { responseTime }: Timed) => accessFields(req, res, responseTime),
    customSuccessMessage: accessMessage,
    customErrorMessage: accessMessage,
  });
}

type Timed = { responseTime: number };

function accessFields(req: Request, res: Response, ms: number): object {
  return { method: req.method, path: shortPath(req.originalUrl), status: res.statusCode, ms };
}

function accessMessage(_req: Request, res: Response): string {
  return res.writableFinished ? 'request' : 'request broken off';
}

/**
 * The path without its query, and shortened: a stranger may write anything into it, an e-mail
 * address for example.
 */
function shortPath(url: string): string {
  const segments = (url.split('?')[0] ?? '').split('/');
  const shown = segments.slice(0, 9).map((text) => {
    if (/@|%40/i.test(text)) return '…';
    return text.length > 64 ? `${text.slice(0, 32)}…` : text;
  });
  return [...shown, ...(segments.length > 9 ? ['…'] : [])].join('/');
}
