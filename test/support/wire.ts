import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';

export type WireService = {
  url: URL;
  /** Requests whose last byte has arrived, oldest first: the text of each. */
  requests: string[];
  sockets: Socket[];
  close(): Promise<void>;
};

/** What to do with a connection. `whole`: a request has arrived to its last byte; its number, from 1. */
export type WireBehaviour = {
  connected?: (socket: Socket) => void;
  whole?: (socket: Socket, count: number) => void;
  /** With the first bytes of a request, before it is whole. */
  begun?: (socket: Socket) => void;
};

/**
 * A stand-in below HTTP: it writes whatever bytes a test wants, and breaks connections where a test wants.
 */
export async function startWireService(behaviour: WireBehaviour): Promise<WireService> {
  const requests: string[] = [];
  const sockets: Socket[] = [];
  const server: Server = createServer((socket) => {
    sockets.push(socket);
    socket.on('error', () => undefined);
    behaviour.connected?.(socket);
    let text = '';
    socket.on('data', (chunk) => {
      if (text === '') behaviour.begun?.(socket);
      text += chunk.toString('latin1');
      if (!isWhole(text)) return;
      requests.push(text);
      text = '';
      behaviour.whole?.(socket, requests.length);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`),
    requests,
    sockets,
    close: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function isWhole(text: string): boolean {
  const end = text.indexOf('\r\n\r\n');
  if (end === -1) return false;
  const length = Number(/content-length: (\d+)/i.exec(text)?.[1] ?? 0);
  return text.length >= end + 4 + length;
}

/** An HTTP answer as bytes. */
export function answerText(body: string, headers: readonly string[] = [], status = '200 OK'): string {
  const lines = [`HTTP/1.1 ${status}`, 'content-type: application/json', ...headers];
  return `${lines.join('\r\n')}\r\n\r\n${body}`;
}
