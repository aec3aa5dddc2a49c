import { recordCalls, type ServiceCall } from './calls.ts';
import type { Exchange } from './exchanges.ts';
import type { Load } from './load.ts';
import { recordSockets, type OutgoingSocket } from './sockets.ts';

/** Everything that came in and went out, and to whom it may have gone. */
export type Traffic = {
  exchanges: readonly Exchange[];
  calls: readonly ServiceCall[];
  sockets: readonly OutgoingSocket[];
  /** Our own origin, and the service's. */
  own: string;
  service: string;
  /** `address:port` of everybody who may be connected to: service, database, receiver, and our own door. */
  mayConnectTo: readonly string[];
  /** Calls in flight at most. */
  concurrency: number;
  load?: Load;
};

export type Recorder = { traffic: Pick<Traffic, 'calls' | 'sockets'>; stop(): void };

/** Records what goes out of this process from now on. */
export function recordOutgoing(service: URL, key: string): Recorder {
  const [calls, sockets] = [recordCalls(service), recordSockets(key)];
  return {
    traffic: { calls: calls.calls, sockets: sockets.sockets },
    stop: () => {
      calls.stop();
      sockets.stop();
    },
  };
}
