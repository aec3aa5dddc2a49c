import type { Config } from '../config.ts';
import { DIALECT_KEYS, type Dialect } from '../gateway/dialect/dialect.ts';
import { at } from '../gateway/dialect/json-pointer.ts';
import { formatTable } from '../platform/terminal.ts';

/**
 * `npm run dialect`: the dialect in force, key by key, and where each value comes from, or as JSON that
 * `GATEWAY_DIALECT` takes.
 */
export function dialectInForce(config: Config, asJson: boolean): string {
  return asJson ? JSON.stringify(config.dialect, null, 2) : tableOf(config);
}

function tableOf({ dialect, dialectFile }: Config): string {
  const keys = new Set(DIALECT_KEYS.map((key) => shownFor(key, dialect)));
  const isGiven = (key: string): boolean => at(dialectFile?.given, key) !== undefined;
  const originOf = (key: string): string => {
    if (isGiven(key)) return 'file';
    return isGiven(key.replace('/statuses/', '/statuses/also/')) ? 'default, file' : 'default';
  };
  const rows = [...keys]
    .filter((key) => key !== '/statuses/also')
    .map((key) => [key, originOf(key), textOf(at(dialect, key))]);
  const file = dialectFile === null ? 'none: GATEWAY_DIALECT is not set' : dialectFile.path;
  return `${formatTable(['key', 'origin', 'value'], rows)}\n\nfile: ${file}`;
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
