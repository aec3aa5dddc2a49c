import { sleep } from '../../src/platform/clock.ts';
import type { Client, ClientAnswer } from '../../src/gateway/http/client.ts';
import { ClientError } from '../../src/gateway/errors.ts';
import { readJson, type Json } from '../../src/gateway/dialect/json-pointer.ts';
import { readRetryHint } from '../../src/gateway/traffic/backoff.ts';

/** One question of the probe and what the service said to it. */
export type Said = {
  /** What was asked, for people and for the name of the sample. */
  name: string;
  method: 'GET' | 'POST';
  path: string;
  sent: string | null;
  /** Null: no usable HTTP answer came; `text` says why. */
  status: number | null;
  headers: ClientAnswer['headers'];
  text: string;
  /** Undefined: not JSON. */
  json: Json;
};

export type Question = Pick<Said, 'name' | 'method' | 'path'> & { sent?: string };

/** Asks the service and keeps every answer. */
export type Line = {
  /** @param maxTries calls at most, where the service says "too many" */
  ask(question: Question, maxTries?: number): Promise<Said>;
  /** All answers so far, those that were "too many calls" included. */
  said(): readonly Said[];
};

const LIMITS = { headersMs: 15_000, totalMs: 20_000, maxBytes: 4 * 1024 * 1024 };
/** A probe is in no hurry, but nobody waits an hour for a table. */
const MAX_WAIT_SEC = 60;
const DEFAULT_WAIT_SEC = 5;
const MAX_TRIES = 4;

/**
 * @param pauseMs between calls: the limits of the service are unknown
 * @param keep is given every answer as it comes
 */
export function createLine(client: Client, pauseMs: number, keep: (said: Said) => void): Line {
  const all: Said[] = [];

  async function once({ name, method, path, sent }: Question): Promise<Said> {
    const base = { name, method, path, sent: sent ?? null };
    const request = { method, path, ...(sent !== undefined && { body: sent }), ...LIMITS };
    const said = await client.call(request).then(
      ({ status, headers, body }): Said => ({
        ...base,
        status,
        headers,
        text: body.toString('utf8'),
        json: parsed(body),
      }),
      (error: unknown): Said => {
        if (!(error instanceof ClientError)) throw error;
        return { ...base, status: null, headers: {}, text: error.message, json: undefined };
      },
    );
    all.push(said);
    keep(said);
    return said;
  }

  return {
    said: () => all,
    ask: async (question, maxTries = MAX_TRIES) => {
      for (let tries = 1; ; tries += 1) {
        if (pauseMs > 0) await sleep(pauseMs);
        const said = await once(question);
        // A question may be asked again. An initialize may have been acted on, so it is not.
        if (said.status !== 429 || question.method === 'POST' || tries >= maxTries) return said;
        const sec = readRetryHint({ status: 429, headers: said.headers })?.sec ?? DEFAULT_WAIT_SEC;
        await sleep(Math.min(sec, MAX_WAIT_SEC) * 1_000);
      }
    },
  };
}

/** A line for at most so many calls, and for waiting no longer than so long. */
export type LimitedLine = Pick<Line, 'ask'> & {
  /** Calls that were made, and that may still be made. */
  made(): number;
  left(): number;
  /** No more waiting: the time is over, or the calls are used up. */
  isOver(): boolean;
};

/** What is above the limit is not asked: its answer has no status. */
export function limited(line: Line, maxCalls: number, isTimeOver: () => boolean): LimitedLine {
  const before = line.said().length;
  const made = (): number => line.said().length - before;
  const left = (): number => maxCalls - made();
  return {
    made,
    left,
    isOver: () => isTimeOver() || left() <= 0,
    ask: (question) =>
      left() > 0
        ? line.ask(question, Math.min(left(), MAX_TRIES))
        : Promise.resolve({
            ...{ ...question, sent: question.sent ?? null, status: null, headers: {} },
            ...{ text: 'not asked: the calls are used up', json: undefined },
          }),
  };
}

function parsed(body: Buffer): Json {
  try {
    return readJson(body);
  } catch {
    return undefined;
  }
}
