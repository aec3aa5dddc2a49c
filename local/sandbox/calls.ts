import type { Request } from 'express';

import type { Endpoint } from './faults.ts';

/** A call of the service, recorded when it arrives. */
export type Call = {
  at: string;
  endpoint: Endpoint;
  method: string;
  path: string;
  reference: string | null;
  /** Null if the call is not answered yet, or never will be. */
  status: number | null;
  userAgent: string | null;
  headers: Record<string, unknown>;
  body: unknown;
};

const KEPT = 5_000;

/** Records a call. Of its key, it records only whether it was right. */
export function noteCall(
  calls: Call[],
  req: Request,
  { endpoint, reference, isRightKey }: { endpoint: Endpoint; reference: string | null; isRightKey: boolean },
): Call {
  const { 'x-api-key': key, ...others } = req.headers;
  const headers = key === undefined ? others : { ...others, 'x-api-key': isRightKey ? 'right' : 'wrong' };
  const { method, originalUrl: path } = req;
  const [at, userAgent] = [new Date().toISOString(), req.get('user-agent') ?? null];
  const call = { at, endpoint, method, path, reference, status: null, userAgent, headers, body: req.body as unknown };
  calls.push(call);
  if (calls.length > KEPT) calls.shift();
  return call;
}
