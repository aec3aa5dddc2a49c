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
  ask(question: Question): Promise<Said>;
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
    ask: async (question) => {
      for (let tries = 1; ; tries += 1) {
        if (pauseMs > 0) await sleep(pauseMs);
        const said = await once(question);
        // A question may be asked again. An initialize may have been acted on, so it is not.
        if (said.status !== 429 || question.method === 'POST' || tries === MAX_TRIES) return said;
        const sec = readRetryHint({ status: 429, headers: said.headers })?.sec ?? DEFAULT_WAIT_SEC;
        await sleep(Math.min(sec, MAX_WAIT_SEC) * 1_000);
      }
    },
  };
}

function parsed(body: Buffer): Json {
  try {
    return readJson(body);
  } catch {
    return undefined;
  }
}
