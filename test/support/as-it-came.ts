import { register } from 'node:module';

// Loaded before a process of the program: it then runs as it came, whatever a shop has made of `src/custom/index.ts`. Without it
// a test would sell that shop's products and wake its people.

const NOTHING_OWN = 'export const OWN = { catalogue: null, receiver: null, alarm: null }, isAsItCame = true;';

const hooks = `export const resolve = async (specifier, context, next) => {
  const resolved = await next(specifier, context);
  return /\\/src\\/custom\\/index\\.ts(\\?|$)/.test(resolved.url)
    ? { url: 'data:text/javascript,${encodeURIComponent(NOTHING_OWN)}', format: 'module', shortCircuit: true }
    : resolved;
};`;
register(`data:text/javascript,${encodeURIComponent(hooks)}`);
