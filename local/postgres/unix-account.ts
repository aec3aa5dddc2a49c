import { readFileSync, realpathSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { EmbeddedPostgresError, USE_ANOTHER_DATABASE } from './embedded-postgres-error.ts';

export type Account = { uid: number; gid: number };

/**
 * The account that runs PostgreSQL when we are root.
 * @throws {EmbeddedPostgresError} when the system has neither of the usual ones
 */
export function unprivilegedAccount(): Account {
  const lines = readFileSync('/etc/passwd', 'utf8').split('\n');
  for (const name of ['postgres', '_postgres', 'nobody']) {
    const [, , uid, gid] = lines.find((line) => line.startsWith(`${name}:`))?.split(':') ?? [];
    if (Number(uid) > 0) return { uid: Number(uid), gid: Number(gid) };
  }
  throw new EmbeddedPostgresError(
    `PostgreSQL does not run as root, and there is no account "postgres" or "nobody" to run it as: start as another user, or ${USE_ANOTHER_DATABASE}`,
  );
}

/** Who owns a file; undefined when there is none, or when it is root, as whom PostgreSQL does not run. */
export function ownerOf(path: string): Account | undefined {
  const stat = statSync(path, { throwIfNoEntry: false });
  return stat === undefined || stat.uid === 0 ? undefined : { uid: stat.uid, gid: stat.gid };
}

/**
 * Whether the account may pass through every folder from the root down to `dir`, by permission bits alone.
 */
export function canEnter(account: Account, dir: string): boolean {
  for (let path = realpathSync(dir); ; path = dirname(path)) {
    const { uid, gid, mode } = statSync(path);
    const bit = uid === account.uid ? 0o100 : gid === account.gid ? 0o010 : 0o001;
    if ((mode & bit) === 0) return false;
    if (path === dirname(path)) return true;
  }
}
