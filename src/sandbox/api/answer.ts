import { envelope, HTTP_STATUS } from '../assumptions.ts';
import { toJsonText } from './json.ts';

/** An HTTP answer: status and JSON text. */
export type Answer = { status: number; body: string };

export function accepted(
  deed: 'initialized' | 'verified' | 'listed',
  message: string,
  data: unknown,
): Answer {
  const status = HTTP_STATUS[deed];
  return { status, body: toJsonText(envelope(status, message, data)) };
}

export function refused(status: number, message: string): Answer {
  return { status, body: toJsonText(envelope(status, message)) };
}
