import { register } from 'node:module';

// Loaded before a process of the program: it then runs with the defaults, whatever a shop has made of
// `src/custom/index.ts`. Without it a test would sell that shop's products and wake its people.

const hooks = `import { existsSync } from 'node:fs';
export const resolve = async (specifier, context, next) => {
  const resolved = await next(specifier, context);
  if (!/\\/src\\/custom\\/index\\.ts(\\?|$)/.test(resolved.url)) return resolved;
  const extensions = new URL('../extensions.ts', resolved.url);
  // A version from before there was such a file, in an upgrade that is tried.
  if (!existsSync(extensions)) return resolved;
  const defaults = JSON.stringify(extensions.href);
  const module = 'export { DEFAULTS as EXTENSIONS } from ' + defaults + '; export const areDefaults = true;';
  return { url: 'data:text/javascript,' + encodeURIComponent(module), format: 'module', shortCircuit: true };
};`;
register(`data:text/javascript,${encodeURIComponent(hooks)}`);
