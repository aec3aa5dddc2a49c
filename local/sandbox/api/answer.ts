import { toJsonText } from './json.ts';

/** An HTTP answer. */
export type Answer = {
  status: number;
  body: string;
  /** JSON unless said otherwise. */
  type?: 'json' | 'html';
  headers?: Record<string, string>;
};

export function json(status: number, value: unknown, headers: Record<string, string> = {}): Answer {
  return { status, body: toJsonText(value), headers };
}
