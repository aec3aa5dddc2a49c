import { pathToFileURL } from 'node:url';
import { registry } from '../../src/alerts/metrics.ts';

// Runs commands one after the other, as `node dist/cli.js` would, because a process for each
// command takes a second to start. The command line is the built program, in its own file, which
// shares its modules with this one.

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
