import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openDebianPostgres } from './debian-postgres.ts';
import type { Restorable } from './restorable.ts';
import type { Stage } from './stage.ts';

const PROGRAM = '/usr/bin/pgbackrest';

/**
 * A backup and an archive of Debian's pgBackRest.
 * @throws with the command to type when it is not installed
 */
export async function openPgBackRest(stage: Stage, folder: string): Promise<Restorable> {
  if (!existsSync(PROGRAM))
    throw new Error(
      "Debian's pgBackRest is not installed: apt-get install -y --no-install-recommends pgbackrest",
    );
  const file = join(folder, 'pgbackrest.conf');
  const postgres = await openDebianPostgres(stage, folder, {
    unix_socket_directories: folder,
    archive_command: `${PROGRAM} --config=${file} --stanza=shop archive-push %p`,
  });
  writeFileSync(
    file,
    `[global]
repo1-path=${folder}/repo
repo1-retention-full=2
start-fast=y
log-path=${folder}
lock-path=${folder}/lock
[shop]
pg1-path=${postgres.data}
pg1-socket-path=${folder}
pg1-port=${new URL(postgres.url).port}
pg1-user=shop
`,
  );
  const ask = (...args: string[]): Promise<unknown> =>
    postgres.run(PROGRAM, `--config=${file}`, '--stanza=shop', ...args);
  await postgres.begin();
  // At once: after three failures the archiver waits for a minute.
  await ask('stanza-create');
  await ask('check');
  return {
    ...postgres,
    backUp: () => ask('--type=full', 'backup'),
    restore: async (moment) => {
      await postgres.run('mkdir', '--mode=700', postgres.data);
      const target = moment.toISOString().replace('T', ' ').replace('Z', '+00');
      await ask('--type=time', `--target=${target}`, '--target-action=promote', 'restore');
      await postgres.start();
    },
  };
}
