import { pathToFileURL } from 'node:url';
import { registry } from '../../src/alerts/metrics.ts';

// Runs one command after the other, as `node dist/cli.js` would: a process for each of them takes a
// second to start. The command line is the program that stands there already, in its own file,
// which shares its modules with this one.

const [, , cli = ''] = process.argv;
const { runCommand } = (await import(pathToFileURL(cli).href)) as typeof import('../../src/cli.ts');
let [out, err] = ['', ''];
process.stdout.write = (text: string | Uint8Array, written?: unknown): boolean => {
  out += String(text);
  if (typeof written === 'function') (written as () => void)();
  return true;
};
process.stderr.write = (text: string | Uint8Array): boolean => {
  err += String(text);
  return true;
};
process.on('message', (words: string[]) => {
  [out, err] = ['', ''];
  registry.clear();
  const ran = runCommand(words).catch((error: unknown) => String(error));
  void ran.then((exit) => process.send?.({ exit, out: out.trimEnd(), err }));
});
