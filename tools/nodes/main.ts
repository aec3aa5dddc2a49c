import { existsSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { readOptions, refuse, usageText } from '../../src/platform/usage.ts';
import { capacity } from './capacity.ts';
import { debian } from './debian.ts';
import { failover } from './failover.ts';
import { image } from './image.ts';
import { patroni } from './patroni.ts';
import { pgbouncer } from './pgbouncer.ts';
import { restore, restorePatroni } from './restore.ts';
import { rolling } from './rolling.ts';
import { openStage, type Stage } from './stage.ts';
import { update } from './update.ts';
import { upgrade } from './upgrade.ts';

/* Many nodes, tried for real: `npm run nodes -- <what>`. Own processes, loopback only, a minute or two each; image, debian and update take longer. */

const WHAT: Record<string, (stage: Stage) => Promise<boolean>> = {
  rolling: (stage) => rolling(stage, true),
  'rolling-untold': (stage) => rolling(stage, false),
  pgbouncer,
  failover,
  patroni: (stage) => patroni(stage, true),
  'patroni-async': (stage) => patroni(stage, false),
  capacity,
  restore,
  'restore-patroni': restorePatroni,
  upgrade,
  image,
  debian,
  update,
};
/** What builds for itself. */
const BUILDS = ['image', 'debian', 'update'];
const LIMIT_MS = 1_200_000;

const HELP = usageText('npm run nodes', {
  does: 'Runs many nodes for real and checks one promise of docs/scaling.md.',
  forms: [Object.keys(WHAT).join(' | '), 'update [tag]'],
  options: {},
  exits: '0 it holds, 1 it does not, or dist/ is missing (npm run build)',
  example: 'rolling',
});

const args = process.argv.slice(2);
const given = readOptions(HELP, args, () => parseArgs({ args, allowPositionals: true }));
if (given === null) process.exit();
const [name = ''] = given.positionals;
const play = WHAT[name];
if (play === undefined) {
  refuse(name === '' ? 'Which of them?' : `There is no "${name}".`, HELP);
  process.exit();
}
if (!BUILDS.includes(name) && !existsSync(new URL('../../dist/server.js', import.meta.url))) {
  process.stderr.write('there is no dist/: npm run build\n');
  process.exit(1);
}
const stage = openStage();
const limit = setTimeout(() => {
  process.stderr.write('twenty minutes are over\n');
  void stage.close().finally(() => process.exit(1));
}, LIMIT_MS);
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => void stage.close().finally(() => process.exit(130)));
// Whatever happens, nothing that we started stays.
process.once('uncaughtException', (error) => {
  process.stderr.write(`${error.stack ?? error.message}\n`);
  void stage.close().finally(() => process.exit(1));
});
try {
  process.exitCode = (await play(stage)) ? 0 : 1;
} catch (error) {
  process.stderr.write(`${(error as Error).message}\n`);
  process.exitCode = 1;
} finally {
  clearTimeout(limit);
  await stage.close();
}
