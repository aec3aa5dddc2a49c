import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import type { Readable } from 'node:stream';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { Spread } from '../../test/support/formula-books.ts';
import type { ReconciliationReport } from '../../src/reconciliation/report/report.ts';

// What `npm run reconcile` gives to Node.js besides.
const NPM = createRequire(import.meta.url)('../../package.json') as { scripts: { reconcile: string } };
const WORDS = NPM.scripts.reconcile.split(' ');
const OWN_FLAGS = WORDS.slice(1, WORDS.indexOf('--import'));
const TSX = pathToFileURL(createRequire(import.meta.url).resolve('tsx')).href;
const pathOf = (file: string): string => fileURLToPath(new URL(file, import.meta.url));

/** What `npm run reconcile -- --json` did, as a process of its own. */
export type Measured = {
  report: ReconciliationReport;
  /** Of the reconciliation, from its first look at the database to its report; of the process with its start. */
  seconds: number;
  processSeconds: number;
  peakBytes: number;
  /** Processor time of the process, without the database's. */
  cpuSeconds: number;
};

/** Runs the real command against a service and a database. @param nodeFlags for looking into it, e.g. `--cpu-prof` */
export async function runReconcile(
  surroundings: { databaseUrl: string; serviceUrl: string; folder: string },
  nodeFlags: readonly string[] = [],
): Promise<Measured> {
  const flags = [...OWN_FLAGS, '--import', TSX, '--import', pathOf('peak-memory.ts'), ...nodeFlags];
  const startedMs = performance.now();
  const child = spawn(process.execPath, [...flags, pathOf('../../local/start.ts'), 'reconcile', '--json'], {
    // The settings of this checkout are none of a measurement.
    cwd: surroundings.folder,
    env: {
      PATH: process.env.PATH,
      TSX_TSCONFIG_PATH: pathOf('../../tsconfig.json'),
      DATABASE_URL: surroundings.databaseUrl,
      GATEWAY_URL: surroundings.serviceUrl,
      GATEWAY_SECRET_KEY: 'sk_test_bench',
      GATEWAY_CALLS_PER_SECOND: '0',
      DEMO_SHOP: 'off',
    },
    stdio: ['ignore', 'pipe', 'inherit', 'pipe'],
  });
  const [answer, usage] = [collect(child.stdout), collect(child.stdio[3] as Readable | null)];
  const [code] = (await once(child, 'close')) as [number | null];
  const processSeconds = (performance.now() - startedMs) / 1_000;
  if (code === null || code > 2 || answer().trim() === '')
    throw new Error(`reconcile ended with ${code ?? 'a signal'}`);
  const report = JSON.parse(answer()) as ReconciliationReport;
  const { peakBytes, cpuSec } = JSON.parse(usage()) as { peakBytes: number; cpuSec: number };
  const seconds = (Date.parse(report.finishedAt) - Date.parse(report.startedAt)) / 1_000;
  return { report, seconds, processSeconds, peakBytes, cpuSeconds: cpuSec };
}

function collect(stream: Readable | null | undefined): () => string {
  let text = '';
  stream?.setEncoding('utf8').on('data', (part: string) => (text += part));
  return () => text;
}

/** Starts `service.ts`. @returns its address, and its end */
export async function startService(
  shape: string,
  count: number,
  spread?: Spread,
): Promise<{ url: string; stop(): void }> {
  const numbers = [count, ...(spread === undefined ? [] : [spread.newestMs, spread.stepMs])].map(String);
  const child = spawn(process.execPath, ['--import', TSX, pathOf('service.ts'), shape, ...numbers], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [line] = (await once(child.stdout, 'data')) as [Buffer];
  return {
    url: line.toString().trim(),
    stop: () => {
      child.kill();
    },
  };
}
