import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { ServiceAdapter } from './gateway/adapter.ts';

/**
 * The adapter of this shop: the default export of src/custom/service.ts, or of the module that GATEWAY_ADAPTER names.
 * @param path counts from the working folder
 * @throws a sentence that says what to do
 */
export async function loadAdapter(path: string | null): Promise<ServiceAdapter> {
  if (path === null) return (await import('./custom/service.ts')).default;
  const file = resolve(path);
  let loaded: { default?: unknown };
  try {
    loaded = (await import(pathToFileURL(file).href)) as { default?: unknown };
  } catch (error) {
    throw new Error(`GATEWAY_ADAPTER: ${file} cannot be loaded: ${String(error)}`, { cause: error });
  }
  const adapter = loaded.default as Partial<ServiceAdapter> | undefined;
  const missing = (
    ['amountUnit', 'checkoutLifetimeMin', 'payableDays', 'initialize', 'verify', 'history', 'read', 'webhook'] as const
  ).filter((name) => adapter?.[name] === undefined);
  if (missing.length > 0) throw new Error(`GATEWAY_ADAPTER: the default export of ${file} lacks ${missing.join(', ')}`);
  return adapter as ServiceAdapter;
}
