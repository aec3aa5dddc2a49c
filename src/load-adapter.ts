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
 * What is called or counted with at every payment: a typing error in it must not wait for the first
 * one.
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
/** As source, and as built into dist. */
const OWN_FILES = ['./custom/service.ts', './custom/service.js'].map((name) => new URL(name, import.meta.url));

/**
 * The adapter of this shop: the default export of src/custom/service.ts, or of the module that
 * GATEWAY_ADAPTER names.
 * @param path counts from the working folder
 * @throws {UserFacingError} that says what is wrong with it, exit code 78
 */
export async function loadAdapter(path: string | null): Promise<ServiceAdapter> {
  const name = path === null ? 'src/custom/service.ts' : `GATEWAY_ADAPTER: ${resolve(path)}`;
  try {
    const loaded = (
      path === null ? await import('./custom/service.ts') : await import(pathToFileURL(resolve(path)).href)
    ) as { default?: unknown };
    const shape = SHAPE.safeParse(loaded.default);
    if (!shape.success) throw new Error(`its default export is no adapter\n${z.prettifyError(shape.error)}`);
    const adapter = loaded.default as ServiceAdapter;
    createReferences(adapter);
    return adapter;
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new UserFacingError(`${name} cannot be used: ${reason}`, EXIT_BAD_CONFIG);
  }
}

/**
 * Tells one version of an adapter from another: a digest of its file and of its members, since a
 * member may come from another file. What one version has read of the history another version reads
 * again.
 */
export async function versionOfAdapter(path: string | null, adapter: ServiceAdapter): Promise<string> {
  const file = path === null ? OWN_FILES.map((url) => fileURLToPath(url)).find(existsSync) : resolve(path);
  const text = file === undefined ? '' : await readFile(file, 'utf8');
  return createHash('sha256').update(text).update(membersOf(adapter)).digest('hex');
}

/** The members as text, also of an adapter that holds something that JSON cannot write. */
function membersOf(adapter: ServiceAdapter): string {
  const write = (_name: string, value: unknown): unknown =>
    typeof value === 'function' || typeof value === 'bigint' ? String(value) : value;
  try {
    return JSON.stringify(adapter, write);
  } catch {
    return '';
  }
}
