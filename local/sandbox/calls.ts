import type { Clock } from '../../src/platform/clock.ts';
import type { Mode } from './keys.ts';

export const ENDPOINTS = ['initialize', 'verify', 'history', 'balances', 'transfers'] as const;

export type Endpoint = (typeof ENDPOINTS)[number];

/** Where a fault can lie: one of the calls, or the webhooks. */
export type Place = Endpoint | 'webhook';

/** One call under /v1, written down when it arrives. `mode` and `status` are null until known. */
export type Call = {
  endpoint: Endpoint;
  at: string;
  mode: Mode | null;
  /** As far as the call names one, carried out or not. */
  reference: string | null;
  /** The HTTP status it was answered with. */
  status: number | null;
};

export type CallReport = {
  endpoints: Record<Endpoint, { total: number; byStatus: Record<string, number> }>;
  /** How often each reference was initialized and verified. */
  references: Record<string, { initialize: number; verify: number }>;
  /** The newest calls in order of arrival. */
  log: Call[];
  /** Older calls that are counted above but no longer in `log`. */
  forgotten: number;
};

/** Counts what an integrator asked for, so that a test can hold it to "one initialize per reference, ever". */
export type CallBook = {
  begin(endpoint: Endpoint, reference: string | null): Call;
  end(call: Call, status: number): void;
  /** @param reference only the calls about this one */
  report(reference?: string): CallReport;
  reset(): void;
};

/** Enough for every test; a load test may run for days. */
const LOG_LIMIT = 100_000;

type Tally = Map<string, { initialize: number; verify: number }>;

/** Lives in memory only: a restart of the sandbox starts new counts. */
export function createCallBook(clock: Clock): CallBook {
  let endpoints = emptyEndpoints();
  let references: Tally = new Map();
  let log: Call[] = [];
  let forgotten = 0;

  return {
    begin(endpoint, reference) {
      const call = { endpoint, at: clock.now().toISOString(), mode: null, reference, status: null };
      endpoints[endpoint].total += 1;
      countReference(references, call);
      if (log.length >= LOG_LIMIT) forgotten += log.splice(0, LOG_LIMIT / 2).length;
      log.push(call);
      return call;
    },
    end(call, status) {
      call.status = status;
      const { byStatus } = endpoints[call.endpoint];
      byStatus[status] = (byStatus[status] ?? 0) + 1;
    },
    report(reference) {
      const isWanted = (of: string | null): boolean => reference === undefined || of === reference;
      return {
        endpoints,
        references: Object.fromEntries([...references].filter(([key]) => isWanted(key))),
        log: log.filter((call) => isWanted(call.reference)),
        forgotten,
      };
    },
    reset() {
      endpoints = emptyEndpoints();
      references = new Map();
      log = [];
      forgotten = 0;
    },
  };
}

function countReference(references: Tally, { endpoint, reference }: Call): void {
  if (reference === null || (endpoint !== 'initialize' && endpoint !== 'verify')) return;
  const tally = references.get(reference) ?? { initialize: 0, verify: 0 };
  tally[endpoint] += 1;
  references.set(reference, tally);
}

function emptyEndpoints(): CallReport['endpoints'] {
  const entries = ENDPOINTS.map((endpoint) => [endpoint, { total: 0, byStatus: {} }]);
  return Object.fromEntries(entries) as CallReport['endpoints'];
}
