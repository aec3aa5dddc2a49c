import { config as loadDotenv } from 'dotenv';
import { faultsBetween, guessable, risks } from './config-checks.ts';
import { bare, VARIABLES, type Variables } from './config-values.ts';
import type { Secret } from './platform/secret.ts';
import { UserFacingError } from './platform/user-facing-error.ts';

export { ROLES, VARIABLES, type Operator, type Role } from './config-values.ts';

/** The complete, checked configuration. Its secrets print as `[redacted]`. */
export type Config = Omit<Variables, 'DATABASE_URL' | 'DATABASE_DIRECT_URL' | 'GATEWAY_URL' | 'GATEWAY_SECRET_KEY'> & {
  DATABASE_URL: Secret;
  /** Defaults to DATABASE_URL. */
  DATABASE_DIRECT_URL: Secret;
  GATEWAY_URL: URL;
  GATEWAY_SECRET_KEY: Secret;
  production: boolean;
  mode: 'test' | 'live';
  demoShop: boolean;
  /** Allowed but risky settings, as `NAME: message`. They are logged at start. */
  warnings: string[];
};

/** Contains all faults of the configuration. */
export class ConfigError extends UserFacingError {
  constructor(faults: readonly string[]) {
    super(['The configuration cannot be used:', ...faults].join('\n  - '), 78);
  }
}

/**
 * Reads and checks the configuration. No other part of the core reads it.
 * @param env variables by name; default: those of the process, then those of `.env` in the working
 * folder
 * @throws {ConfigError} with the names and the reasons, never with a value
 */
export function loadConfig(env?: Record<string, string | undefined>): Config {
  if (env === undefined) loadDotenv({ quiet: true });
  const faults: string[] = [];
  const warnings: string[] = [];
  // Each variable is parsed separately, so that a bad value does not hide others. A bad value counts
  // as unset.
  const entries = Object.entries(VARIABLES.shape).map(([name, type]) => {
    const given = (env ?? process.env)[name] ?? '';
    if (bare(given) !== given) warnings.push(`${name}: had surrounding white space or quotes, which were removed`);
    const parsed = type.safeParse(bare(given));
    if (!parsed.success) faults.push(`${name}: ${parsed.error.issues[0]?.message ?? 'is not valid'}`);
    return [name, parsed.success ? parsed.data : type.safeParse('').data];
  });
  const v = Object.fromEntries(entries) as Variables;
  const live = v.GATEWAY_SECRET_KEY?.reveal().startsWith('sk_live_') === true;
  const production = v.NODE_ENV === 'production';
  (live || production ? faults : warnings).push(...guessable(v));
  const named = faults.map(nameIn);
  faults.push(...faultsBetween(v, production, live).filter((fault) => !named.includes(nameIn(fault))));
  const { DATABASE_URL, GATEWAY_URL, GATEWAY_SECRET_KEY } = v;
  if (faults.length > 0 || !DATABASE_URL || !GATEWAY_URL || !GATEWAY_SECRET_KEY) throw new ConfigError(faults);
  warnings.push(...risks(v, production, live));
  const mode = live ? 'live' : 'test';
  const demoShop = v.DEMO_SHOP === 'on' || (v.DEMO_SHOP === null && !production);
  const DATABASE_DIRECT_URL = v.DATABASE_DIRECT_URL ?? DATABASE_URL;
  const needed = { DATABASE_URL, DATABASE_DIRECT_URL, GATEWAY_URL, GATEWAY_SECRET_KEY };
  return { ...v, ...needed, production, mode, demoShop, warnings };
}

const nameIn = (fault: string) => fault.slice(0, fault.indexOf(':'));
/** The user of this machine, whose name signs commands. Null if it is unknown. */
export const userOfMachine = (): string | null => bare(process.env.USER ?? '') || null;
