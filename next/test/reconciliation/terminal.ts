import { registry } from '../../src/alerts/metrics.ts';
import { runCommand } from '../../src/cli.ts';

// Runs one command after the other, as `node dist/cli.js` would: a process for each of them takes a second to start.

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
  void ran.then((exit) => process.send?.({ exit, out, err }));
});
