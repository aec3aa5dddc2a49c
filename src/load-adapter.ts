import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { z } from 'zod';
import type { ServiceAdapter } from './gateway/adapter.ts';
import { createReferences } from './gateway/references.ts';
import { UserFacingError } from './platform/user-facing-error.ts';

const act = z.custom((value) => typeof value === 'function', 'must be a function');
const wholeNumber = (least: number, most: number) => z.int(`must be a whole number`).min(least).max(most);
const YEAR_MIN = 366 * 1_440;
const CENTURY_DAYS = 36_525;

/**
 * Everything that payments call or calculate with. A typing error in it must be found at start, not
 * at the first payment.
 */
const SHAPE = z.looseObject({
  authorize: act.optional(),
  amountUnit: z.enum(['major', 'minor']),
  decimals: z.record(z.string(), z.int().min(0).max(8)).optional(),
  checkoutLifetimeMin: z.number().positive().max(YEAR_MIN),
  payableDays: z.number().positive().max(366),
  initialize: z.looseObject({ checkoutUrl: act, body: act.optional() }),
  verify: z.looseObject({ record: act }),
  history: z.looseObject({
    first: act,
    rows: act,
    next: act,
    isForeign: act.optional(),
    filters: z.boolean(),
    lagMin: wholeNumber(0, YEAR_MIN),
    reachesBackDays: wholeNumber(1, CENTURY_DAYS).nullable(),
  }),
  read: act,
  webhook: z.looseObject({
    references: act,
    signature: act.nullable(),
    acknowledgement: z
      .looseObject({ status: z.int().min(200).max(299), contentType: z.string(), body: z.string() })
      .optional(),
  }),
  transfers: z.looseObject({ first: act, rows: act, next: act, read: act }).optional(),
  balances: z.looseObject({ path: z.string().startsWith('/'), read: act }).optional(),
});

const EXIT_BAD_CONFIG = 78;
/** The source, and the compiled file in dist. */
const OWN_FILES = ['./custom/service.ts', './custom/service.js'].map((name) => new URL(name, import.meta.url));

/**
 * Loads the shop's adapter: the default export of src/custom/service.ts, or of the module in
 * GATEWAY_ADAPTER.
 * @param path relative to the working folder
 * @throws {UserFacingError} with exit code 78 if the adapter cannot be used; the message says why
 */
export async function loadAdapter(path: string | null): Promise<ServiceAdapter> {
  const name = path === null ? 'src/custom/service.ts' : `GATEWAY_ADAPTER: ${resolve(path)}`;
  try {
    const loaded = (
      path === null ? await import('./custom/service.ts') : await import(pathToFileURL(resolve(path)).href)
    ) as { default?: unknown };
    const shape = SHAPE.safeParse(loaded.default);
    if (!shape.success) throw new Error(`its default export is not an adapter\n${z.prettifyError(shape.error)}`);
    const adapter = loaded.default as ServiceAdapter;
    createReferences(adapter);
    return adapter;
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new UserFacingError(`${name} cannot be used: ${reason}`, EXIT_BAD_CONFIG);
  }
}

/**
 * Identifies a version of an adapter by a digest of its file and its members, because a member may
 * come from another file. A new version reads the history again.
 */
export async function versionOfAdapter(path: string | null, adapter: ServiceAdapter): Promise<string> {
  const file = path === null ? OWN_FILES.map((url) => fileURLToPath(url)).find(existsSync) : resolve(path);
  const text = file === undefined ? '' : await readFile(file, 'utf8');
  return createHash('sha256').update(text).update(membersOf(adapter)).digest('hex');
}

/** The members as text. Works also for an adapter with values that JSON cannot represent. */
function membersOf(adapter: ServiceAdapter): string {
  const write = (_name: string, value: unknown): unknown =>
    typeof value === 'function' || typeof value === 'bigint' ? String(value) : value;
  try {
    return JSON.stringify(adapter, write);
  } catch {
    return '';
  }
}
