import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { z } from 'zod';
import type { ServiceAdapter } from './gateway/adapter.ts';
import { createReferences } from './gateway/references.ts';
import { UserFacingError } from './platform/user-facing-error.ts';

const act = z.custom((value) => typeof value === 'function', 'must be a function');
const above = z.number().positive();

/** What is called or counted with at every payment: a typing error in it must not wait for the first one. */
const SHAPE = z.looseObject({
  amountUnit: z.enum(['major', 'minor']),
  decimals: z.record(z.string(), z.int().min(0).max(8)).optional(),
  checkoutLifetimeMin: above,
  payableDays: above,
  initialize: z.looseObject({ checkoutUrl: act, body: act.optional() }),
  verify: z.looseObject({ record: act }),
  history: z.looseObject({ first: act, rows: act, next: act, lagMin: z.number().min(0), filters: z.boolean() }),
  read: act,
  webhook: z.looseObject({ references: act, signature: act.nullable() }),
});

const EXIT_BAD_CONFIG = 78;

/**
 * The adapter of this shop: the default export of src/custom/service.ts, or of the module that GATEWAY_ADAPTER names.
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
