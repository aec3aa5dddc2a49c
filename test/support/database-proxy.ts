import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

export type DatabaseProxy = {
  /** The same database, through this proxy. */
  url: string;
  /**
   * up: passes traffic of new connections. gone: breaks all connections and refuses new ones.
   * silent: keeps connections open and passes nothing; connections of that time stay dead
   * afterwards, as when a machine vanishes.
   */
  set(state: 'up' | 'gone' | 'silent'): void;
  close(): Promise<void>;
};

/** The network between a program and its PostgreSQL. @param url of the database */
export async function startDatabaseProxy(url: string): Promise<DatabaseProxy> {
  const target = new URL(url);
  const sockets = new Set<Socket>();
  /** The near ends of dead connections. */
  const lost = new WeakSet<Socket>();
  let state: 'up' | 'gone' | 'silent' = 'up';
  const server = createServer((near) => {
    const far = connect(Number(target.port || 5432), target.hostname);
    const pass = (from: Socket, to: Socket) => {
      sockets.add(from);
      from.on('error', () => undefined);
      from.on('data', (bytes) => {
        if (!lost.has(near)) to.write(bytes);
      });
      from.on('close', () => to.destroy());
    };
    pass(near, far);
    pass(far, near);
    if (state === 'silent') lost.add(near);
    if (state === 'gone') near.destroy();
  });
  const cut = () => {
    for (const socket of sockets) socket.destroy();
  };
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const own = new URL(url);
  own.host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url: own.href,
    set: (next) => {
      state = next;
      if (next === 'gone') cut();
      if (next === 'silent') for (const socket of sockets) lost.add(socket);
    },
    close: async () => {
      cut();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
