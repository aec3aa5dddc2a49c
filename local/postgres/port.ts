import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';

/**
 * A port of 127.0.0.1 to listen on: the one of the last start if it is free, else one that the system
 * chooses.
 */
export async function choosePort(homeDir: string): Promise<number> {
  const last = readPort(homeDir);
  const kept = last === undefined ? undefined : await tryPort(last);
  return kept ?? freePort();
}

/** A port that is free at this moment. Another program may be quicker. */
export async function freePort(): Promise<number> {
  const port = await tryPort(0);
  if (port === undefined) throw new Error('the system has no free port');
  return port;
}

/** Connection strings that people have copied stay good when the port does not change. */
export function rememberPort(homeDir: string, port: number): void {
  const path = join(homeDir, 'postgres-port');
  // Made anew, so that it may be root's today and a user's tomorrow.
  rmSync(path, { force: true });
  writeFileSync(path, `${port}\n`);
}

function readPort(homeDir: string): number | undefined {
  try {
    const port = Number(readFileSync(join(homeDir, 'postgres-port'), 'utf8'));
    return Number.isInteger(port) && port > 0 && port < 65_536 ? port : undefined;
  } catch {
    return undefined;
  }
}

function tryPort(port: number): Promise<number | undefined> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once('error', () => {
      resolve(undefined);
    });
    probe.listen(port, '127.0.0.1', () => {
      const { port: bound } = probe.address() as AddressInfo;
      probe.close(() => {
        resolve(bound);
      });
    });
  });
}
