import type { Request, RequestHandler, Response } from 'express';
import { randomUUID } from 'node:crypto';
import { pino, type DestinationStream, type Logger } from 'pino';
import { pinoHttp } from 'pino-http';

export type { Logger };

/**
 * JSON lines. A message is a fact in lower case, its data is in fields, and every line about a
 * payment has the payment's reference. Bodies, headers and e-mail addresses are never logged.
 * @param level a level of pino, or `silent`
 * @param destination standard output by default; a command writes its result there, so its log goes
 * elsewhere
 */
export function createLogger(level: string, destination: DestinationStream = pino.destination(1)): Logger {
  const timestamp = pino.stdTimeFunctions.isoTime;
  return pino({ level, base: null, timestamp, serializers: { err: describeError } }, destination);
}

type ErrorDescription = { type: string; message?: string; code?: string; stack?: string; cause?: ErrorDescription };

/**
 * The parts of an error that may be logged. Libraries attach connections, requests and passwords to
 * errors.
 */
function describeError(error: unknown, depth = 0): ErrorDescription {
  if (!(error instanceof Error)) return { type: typeof error, message: 'thrown, and no error' };
  const { name, message, stack = '', cause, code } = error as Error & { code?: unknown };
  // The stack repeats the message, and a message of several lines may contain a line that looks
  // like a frame.
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
 * Errors of PostgreSQL and Prisma quote rows, and rows contain personal data. They are recognized
 * by shape, because their classes have no common base.
 */
function isOfDatabase(error: Error): boolean {
  return (
    /^Prisma|^DriverAdapter/.test(error.name) || ('severity' in error && 'code' in error) || 'clientVersion' in error
  );
}

/** The number of characters of an error's message that are logged. */
const MESSAGE_LENGTH = 2_000;

/**
 * Also removes the password from an address like `postgres://user:password@host`. The text is cut
 * first, because the time of the replacement is quadratic in a text without spaces.
 */
function withoutAddresses(text: string): string {
  return text.slice(0, MESSAGE_LENGTH).replace(/[^\s@"'<>(),]+(?=@)/g, '…');
}

/**
 * One line per request: method, path, status, milliseconds, and an id that also appears in the
 * lines that handlers write by `req.log`. Health checks (/healthz, /readyz) are logged at `debug`.
 */
export function accessLog(logger: Logger): RequestHandler {
  return pinoHttp<Request, Response>({
    logger,
    genReqId: () => randomUUID(),
    customAttributeKeys: { reqId: 'requestId' },
    // These options keep headers out of every line, and keep our own error serializer in `req.log`.
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
 * The path without its query, with long segments shortened. A client can put anything into a path,
 * for example an e-mail address.
 */
function shortPath(url: string): string {
  const segments = (url.split('?')[0] ?? '').split('/');
  const shown = segments.slice(0, 9).map((text) => {
    if (/@|%40/i.test(text)) return '…';
    return text.length > 64 ? `${text.slice(0, 32)}…` : text;
  });
  return [...shown, ...(segments.length > 9 ? ['…'] : [])].join('/');
}
