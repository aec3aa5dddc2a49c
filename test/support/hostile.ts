import { request } from 'node:http';
import { connect } from 'node:net';
import { expect, test } from '@jest/globals';
import type { TestProgram } from './program.ts';

/** What a hostile client sends. Unlike `fetch`, nothing tidies it up on the way. */
export type Attack = {
  method?: string;
  path?: string;
  headers?: Record<string, string | string[]>;
  /** An object goes as JSON. */
  body?: object | string | Buffer;
};

export type Answer = { status: number; headers: Record<string, string | string[] | undefined>; text: string };

const PATIENCE_MS = 60_000;

/** Asks as told, to the letter. By default a POST to `/checkout`. */
export function attack(
  origin: string,
  { method = 'POST', path = '/checkout', headers = {}, body }: Attack,
): Promise<Answer> {
  const isText = typeof body === 'string' || Buffer.isBuffer(body);
  const bytes = body === undefined ? undefined : isText ? body : JSON.stringify(body);
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(origin);
    const all = { ...(bytes !== undefined && { 'content-type': 'application/json' }), ...headers };
    const req = request(
      { hostname, port, method, path, headers: all, agent: false, timeout: PATIENCE_MS },
      (res) => {
        let text = '';
        res.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
        res.once('end', () => {
          resolve({ status: res.statusCode ?? 0, headers: res.headers, text });
        });
      },
    );
    req.once('error', reject).once('timeout', () => req.destroy(new Error('no answer')));
    req.end(bytes);
  });
}

/**
 * Writes bytes on a socket of its own. @returns everything that came back until the server hung up, or
 * `limitMs` passed. `drop`: what to add twice a second
 */
export function onTheWire(
  origin: string,
  bytes: string | Buffer,
  limitMs = PATIENCE_MS,
  drop = '',
): Promise<{ text: string; hungUp: boolean }> {
  return new Promise((resolve) => {
    const { hostname, port } = new URL(origin);
    let text = '';
    const socket = connect(Number(port), hostname, () => socket.write(bytes));
    const drip = drop === '' ? undefined : setInterval(() => socket.write(drop), 500);
    const end = (hungUp: boolean) => () => {
      clearTimeout(timer);
      clearInterval(drip);
      socket.destroy();
      resolve({ text, hungUp });
    };
    const timer = setTimeout(end(false), limitMs);
    socket.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
    socket.once('close', end(true)).on('error', () => undefined);
  });
}

/** How many rows each table has, and how many calls the service got: what an attack must not change. */
export async function inventory({ program, sandbox }: TestProgram): Promise<Record<string, string>> {
  const tables = await program.database.query<{ name: string; rows: string }>(
    `SELECT table_name AS name, (xpath('/row/c/text()', query_to_xml(format('SELECT count(*) AS c FROM %I', table_name), false, true, '')))[1]::text AS rows
     FROM information_schema.tables WHERE table_schema = 'public' AND table_type = 'BASE TABLE' AND table_name <> 'rate_limits' ORDER BY 1`,
  );
  const calls = (await (await fetch(`${sandbox.url}/sandbox/calls`)).json()) as {
    endpoints: Record<string, { total: number }>;
  };
  const total = Object.values(calls.endpoints).reduce((sum, endpoint) => sum + endpoint.total, 0);
  return { ...Object.fromEntries(tables.map(({ name, rows }) => [name, rows])), calls: String(total) };
}

/** What everything inherits from. Two attacks in a row must find it as it was. */
export function prototypes(): string[] {
  return [Object.prototype, Array.prototype, Function.prototype].flatMap((each) =>
    Reflect.ownKeys(each).map(String),
  );
}

/** An attack by name, and its end: a status and, of a refusal, the type of problem. */
export type Refusal = [name: string, attack: Attack, status: number, problem: string | null];

/** One test per row: the answer is exactly that, and nothing was written or asked because of it. */
export function refuses(shop: () => TestProgram, rows: readonly Refusal[]): void {
  test.each(rows)('%s', async (_name, what, status, problem) => {
    const [before, inherited] = [await inventory(shop()), prototypes()];
    const answer = await attack(shop().origin, what);
    expect({ status: answer.status, problem: problemOf(answer) }).toEqual({ status, problem });
    expect(await inventory(shop())).toEqual(before);
    expect(prototypes()).toEqual(inherited);
  });
}

/** The type of a problem document without its folder; null when the answer is none. */
export function problemOf({ headers, text }: Answer): string | null {
  if (!String(headers['content-type']).startsWith('application/problem+json')) return null;
  return (JSON.parse(text) as { type: string }).type.replace('/problems/', '');
}
