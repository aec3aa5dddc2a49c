import { Socket } from 'node:net';
import { formsOfKey } from '../invariants/leaks.ts';

/** A connection that this process tried to open. */
export type OutgoingSocket = {
  /** `address:port`, as the system was told. */
  to: string;
  /** Whether the secret key went over it anywhere but in the one header that is there for it. */
  leaksKey: boolean;
  /** Whether the key went over it at all. */
  carriesKey: boolean;
};

type Connect = (this: Socket, ...args: unknown[]) => Socket;

/**
 * Writes down every connection that this process opens, whoever opens it: name lookup, PostgreSQL and each
 * HTTP client end in this one method. Tests that knock at their own program are in it, too.
 */
export function recordSockets(key: string): { sockets: OutgoingSocket[]; stop(): void } {
  const sockets: OutgoingSocket[] = [];
  const forms = formsOfKey(key);
  const prototype = Socket.prototype as unknown as { connect: Connect };
  const { connect } = prototype;
  const recording: Connect = function (...args) {
    const seen: OutgoingSocket = { to: '', leaksKey: false, carriesKey: false };
    // A socket that several recorders watch is no leak.
    this.setMaxListeners(0);
    this.once('connectionAttempt', (address: string, port: number) => {
      seen.to = `${address}:${port}`;
      sockets.push(seen);
    });
    // It gives the socket its own way of writing back, so ours comes after.
    const socket = connect.apply(this, args);
    const write = this.write.bind(this);
    this.write = (chunk: unknown, ...rest: []) => {
      watch(seen, textOf(chunk), key, forms);
      return write(chunk as string, ...rest);
    };
    return socket;
  };
  prototype.connect = recording;
  return {
    sockets,
    stop: () => {
      if (prototype.connect === recording) prototype.connect = connect;
    },
  };
}

function watch(seen: OutgoingSocket, text: string, key: string, forms: readonly string[]): void {
  const rest = text.replaceAll(`x-api-key: ${key}\r\n`, '');
  seen.carriesKey ||= rest.length < text.length;
  seen.leaksKey ||= forms.some((form) => rest.includes(form));
}

function textOf(chunk: unknown): string {
  if (typeof chunk === 'string') return chunk;
  return chunk instanceof Uint8Array ? Buffer.from(chunk).toString('latin1') : '';
}
