import { exec, spawnSync } from 'node:child_process';
import { parseArgs, type ParseArgsConfig } from 'node:util';
import { readOptions, usageText, type Usage } from '../src/platform/usage.ts';

/* Commands that run others: one after the other to the first that fails, or side by side. */

const BUILD = [
  'node --import tsx deploy/copy-assets.ts --clean',
  'tsc -p deploy',
  'node --import tsx deploy/copy-assets.ts',
];
const FOLDER = { type: 'string' } as const;

type Command = Pick<Usage, 'does'> & {
  /** Options of the last step. */
  options?: NonNullable<ParseArgsConfig['options']>;
  meanings?: Usage['options'];
  /** None needs what another makes: all run at once, and what each says stands together. */
  areSideBySide?: true;
  steps: readonly string[];
};

const COMMANDS: Readonly<Record<string, Command>> = {
  build: { does: 'Plain JavaScript in dist/, for production.', steps: BUILD },
  bundle: {
    does: 'One folder with all that an installation needs (docs/debian.md).',
    options: { to: FOLDER, built: FOLDER },
    meanings: { '--to': 'the folder (bundle)', '--built': 'what npm run build has made (dist)' },
    steps: [...BUILD, 'node --import tsx deploy/bundle.ts'],
  },
  check: {
    does: 'Looks for secrets, and checks types, style and format.',
    areSideBySide: true,
    steps: [
      'eslint . --max-warnings 0',
      'tsc',
      'tsc -p src/demo-shop/assets/jsconfig.json',
      'tsc -p src/api-docs/client/jsconfig.json',
      'node --import tsx deploy/find-secrets.ts',
      'prettier --check .',
    ],
  },
  format: { does: 'Puts all files into the agreed format.', steps: ['prettier --write .', 'eslint . --fix'] },
};

const [name = '', ...rest] = process.argv.slice(2);
const command = COMMANDS[name];
if (command === undefined) throw new RangeError(`steps.ts takes ${Object.keys(COMMANDS).join(', ')}`);
const { does, options = {}, meanings = {}, areSideBySide = false, steps } = command;
const forms = [
  Object.keys(meanings)
    .map((option) => `[${option} FOLDER]`)
    .join(' '),
];
const usage = { does, forms, options: meanings, exits: '0 done, else a step has failed', example: '' };
const help = usageText(`npm run ${name}`, usage);
if (readOptions(help, rest, () => parseArgs({ args: rest, options })) !== null)
  process.exitCode = areSideBySide ? Math.max(...(await Promise.all(lines().map(runApart)))) : run();

/** npm has put the programs of the packages into PATH; a folder may have a space in its name. */
function lines(): string[] {
  const quoted = rest.map((arg) => ` '${arg.replaceAll("'", `'\\''`)}'`).join('');
  return steps.map((step, at) => (at === steps.length - 1 ? step + quoted : step));
}

function run(): number {
  for (const line of lines()) {
    const { status } = spawnSync(line, { shell: true, stdio: 'inherit' });
    if (status !== 0) return status ?? 1;
  }
  return 0;
}

function runApart(line: string): Promise<number> {
  return new Promise((resolve) => {
    const child = exec(line, { maxBuffer: Infinity }, (_error, stdout, stderr) => {
      process.stdout.write(stdout);
      process.stderr.write(stderr);
      resolve(child.exitCode ?? 1);
    });
  });
}
