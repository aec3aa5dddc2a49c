import { connect, createServer, type Socket } from 'node:net';
import { freePort, type Stage } from './stage.ts';

export type Address = { host: string; port: number };
export type Relay = {
  port: number;
  cut(): void;
  /** Open connections pass nothing on, new ones do. @returns what makes it good again */
  stall(): () => void;
};

/** Passes bytes on to whatever address is the right one when a connection opens; `null`: it is closed at once. */
export async function relay(stage: Stage, target: () => Address | null): Promise<Relay> {
  const open = new Set<Socket>();
  const server = createServer((inner) => {
    const address = target();
    if (address === null) {
      inner.destroy();
      return;
    }
    const outer = connect(address.port, address.host);
    for (const socket of [inner, outer]) {
      open.add(socket);
      socket
        .on('error', () => undefined)
        .on('close', () => {
          open.delete(socket);
          inner.destroy();
          outer.destroy();
        });
    }
    inner.pipe(outer).pipe(inner);
  });
  const port = await freePort();
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  const cut = (): void => {
    for (const socket of open) socket.destroy();
  };
  const stall = (): (() => void) => {
    const stalled = [...open];
    for (const socket of stalled) socket.pause();
    return () => {
      for (const socket of stalled) socket.resume();
    };
  };
  stage.later(() => {
    server.close();
    cut();
  });
  return { port, cut, stall };
}
