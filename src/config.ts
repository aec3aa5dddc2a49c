import { config as loadDotenv } from 'dotenv';
import { readFileSync } from 'node:fs';
import { combinationFaults, warningsOf } from './config/rules.ts';
import { VARIABLES, type Variables } from './config/variables.ts';
import {
  DialectError,
  droppedWords,
  parseDialect,
  type Dialect,
  type ParsedDialect,
} from './gateway/dialect/dialect.ts';
import { readTracingSettings, type TracingSettings } from './platform/tracing/settings.ts';
import { UserFacingError } from './platform/terminal.ts';

/** The exit code of a process whose configuration is wrong (EX_CONFIG of sysexits.h). */
export const EXIT_BAD_CONFIG = 78;

/** Every fault of the configuration at once. Names variables and says what to do; never quotes a value. */
export class ConfigError extends UserFacingError {
  readonly faults: string[];

  constructor(faults: string[]) {
    super(['The configuration cannot be used:', ...faults.map((fault) => `  - ${fault}`)].join('\n'));
    this.name = 'ConfigError';
    this.faults = faults;
  }
}

/** The configuration, checked and in one piece. Secrets in it print as `[redacted]`. */
export type Config = Omit<Variables, 'GATEWAY_DIALECT' | 'PUBLIC_URL' | 'DEMO_SHOP'> & {
  /** Where browsers and the service reach us. Null: not set, the listening address is used. */
  PUBLIC_URL: URL | null;
  dialect: Dialect;
  /** The file over the default dialect and what stands in it; null: the defaults hold. */
  dialectFile: { path: string; given: Record<string, unknown> } | null;
  production: boolean;
  demoShop: boolean;
  /** The names of the variables that have a value, in the order of `.env.example`. */
  given: readonly string[];
  /** What is legal and risky, as `NAME: sentence`. */
  warnings: readonly string[];
  /** Null: traces are not wanted. */
  tracing: TracingSettings | null;
};

/**
 * Reads and checks the configuration; the only reader of its variables.
 * @param env variables by name; by default the process's, over those of the working folder's `.env` file
 * @throws {ConfigError} listing every fault at once
 */
export function loadConfig(env: Record<string, string | undefined> = processEnvironment()): Config {
  const { variables, faults } = readVariables(env);
  const named = new Set(faults.map(nameIn));
  // A variable that is wrong by itself needs no second complaint about what it leads to.
  faults.push(...combinationFaults(variables).filter((fault) => !named.has(nameIn(fault))));
  const tracing = readTracingSettings(env, faults);
  const dialect = readDialect(variables.GATEWAY_DIALECT, faults);
  // The default scheme is an assumption, so it binds only when secrets are given; a scheme that a person
  // wrote down always binds. Without either, webhooks stay what they are anyway: hints.
  if (dialect?.named.signature === true && variables.WEBHOOK_SECRETS.length === 0) {
    faults.push('WEBHOOK_SECRETS: is needed, because the dialect names a signature scheme');
  }
  if (faults.length > 0 || dialect === null) throw new ConfigError(faults);
  const production = variables.NODE_ENV === 'production';
  return {
    ...variables,
    PUBLIC_URL: variables.PUBLIC_URL ?? null,
    dialect: dialect.dialect,
    dialectFile:
      variables.GATEWAY_DIALECT === undefined
        ? null
        : { path: variables.GATEWAY_DIALECT, given: dialect.given },
    production,
    given: Object.keys(VARIABLES.shape).filter((name) => (env[name] ?? '') !== ''),
    warnings: [
      ...warningsOf(variables),
      ...droppedWords(dialect.dialect).map((sentence) => `GATEWAY_DIALECT: ${sentence}`),
    ],
    tracing,
    demoShop: variables.DEMO_SHOP === 'on' || (variables.DEMO_SHOP === '' && !production),
  };
}

/** Each variable by itself, so that one bad value hides no other fault. A bad one counts as unset. */
function readVariables(env: Record<string, string | undefined>): { variables: Variables; faults: string[] } {
  const faults: string[] = [];
  const entries = Object.entries(VARIABLES.shape).map(([name, type]) => {
    const parsed = type.safeParse(env[name]);
    if (parsed.success) return [name, parsed.data] as const;
    faults.push(`${name}: ${plain(parsed.error.issues[0]?.message ?? 'is not valid')}`);
    return [name, type.safeParse('').data] as const;
  });
  return { variables: Object.fromEntries(entries) as Variables, faults };
}

function nameIn(fault: string): string {
  return fault.slice(0, fault.indexOf(':'));
}

function processEnvironment(): Record<string, string | undefined> {
  loadDotenv({ quiet: true });
  return process.env;
}

function readDialect(path: string | undefined, faults: string[]): ParsedDialect | null {
  try {
    return parseDialect(path === undefined ? '{}' : readFileSync(path, 'utf8'));
  } catch (error) {
    if (error instanceof DialectError)
      faults.push(...error.faults.map((fault) => `GATEWAY_DIALECT: ${fault}`));
    else
      faults.push(
        `GATEWAY_DIALECT: the file cannot be read (${(error as NodeJS.ErrnoException).code ?? 'unknown reason'}); a path without a leading / counts from ${process.cwd()}`,
      );
    return null;
  }
}

// zod quotes the received value in some messages; ours must not.
function plain(message: string): string {
  return message.replace(/, received .*$/, '');
}
