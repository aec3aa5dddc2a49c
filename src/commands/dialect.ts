import { parseArgs } from 'node:util';
import type { Config } from '../config.ts';
import { DIALECT_KEYS } from '../gateway/dialect/keys.ts';
import type { Dialect } from '../gateway/dialect/dialect.ts';
import { at } from '../gateway/dialect/json-pointer.ts';
import { formatTable } from '../platform/table.ts';
import { runProcess } from '../bootstrap/run-process.ts';

/** `npm run dialect`: the dialect in force, key by key, and where each value comes from. */

const HELP = `npm run dialect             prints every key, its value, and whether the file of GATEWAY_DIALECT says so
npm run dialect -- --json   prints the same as JSON that GATEWAY_DIALECT takes

What each key means: docs/what-the-reference-leaves-open.md
`;

/** The exit code of a command that was called wrongly (EX_USAGE of sysexits.h). */
const EXIT_USAGE = 64;

await runProcess((config) => Promise.resolve(run(config)));

function run(config: Config): number {
  try {
    const { values } = parseArgs({
      options: { json: { type: 'boolean', default: false }, help: { type: 'boolean', default: false } },
    });
    process.stdout.write(
      values.help ? HELP : values.json ? `${JSON.stringify(config.dialect, null, 2)}\n` : tableOf(config),
    );
    return 0;
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n\n${HELP}`);
    return EXIT_USAGE;
  }
}

function tableOf({ dialect, dialectFile }: Config): string {
  const keys = new Set(DIALECT_KEYS.map((key) => shownFor(key, dialect)));
  const rows = [...keys].map((key) => [
    key,
    at(dialectFile?.given, key) === undefined ? 'default' : 'file',
    textOf(at(dialect, key)),
  ]);
  const file = dialectFile === null ? 'none: GATEWAY_DIALECT is not set' : dialectFile.path;
  return `${formatTable(['key', 'origin', 'value'], rows)}\n\nfile: ${file}\n`;
}

/** The key itself, or the object around it that the dialect has switched off with null. */
function shownFor(key: string, dialect: Dialect): string {
  const names = key.split('/');
  const around = names.map((_name, depth) => names.slice(0, depth + 1).join('/'));
  return around.find((pointer) => at(dialect, pointer) === null) ?? key;
}

function textOf(value: unknown): string {
  return value === undefined ? 'as in verify' : JSON.stringify(value);
}
