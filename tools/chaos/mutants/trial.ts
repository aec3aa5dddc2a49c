import { spawn } from 'node:child_process';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';

/** `npm test` tries some of like cases, `npm run test:all` every one. */
export type Suite = 'test' | 'test:all';

/** How tests ended: green, red by a named test, or not at all. */
export type Trial = {
  suite: Suite;
  end: 'passed' | 'failed' | 'hung' | 'broken';
  by: string;
  seconds: number;
};

type Report = {
  success: boolean;
  testResults: {
    name: string;
    message: string;
    assertionResults: { status: string; fullName: string }[];
  }[];
};

const LIMIT_MS = 300_000;
const REPORT = '.trial.json';

/** Runs test files in a folder, one after the other, until one of them does not pass. */
export async function tryTests(folder: string, files: readonly string[], suite: Suite): Promise<Trial> {
  let seconds = 0;
  for (const file of files) {
    const trial = await tryFile(folder, file, suite);
    seconds += trial.seconds;
    if (trial.end !== 'passed') return { ...trial, seconds };
  }
  return { suite, end: 'passed', by: '', seconds };
}

async function tryFile(folder: string, file: string, suite: Suite): Promise<Trial> {
  const started = performance.now();
  const report = join(folder, REPORT);
  rmSync(report, { force: true });
  // Not with --bail: then jest ends before it has written its report.
  const options = ['--forceExit', '--passWithNoTests', '--json', `--outputFile=${report}`];
  const hasEnded = await run(folder, ['run', suite, '--', ...options, file]);
  const seconds = (performance.now() - started) / 1_000;
  const ended = (end: Trial['end'], by: string): Trial => ({ suite, end, by: `${file}: ${by}`, seconds });
  if (!hasEnded) return ended('hung', `it did not end within ${LIMIT_MS / 1_000} s`);
  if (!existsSync(report)) return ended('broken', 'jest wrote no report');
  return { suite, ...read(report, folder), seconds };
}

/** @returns false when it had to be ended */
function run(folder: string, args: readonly string[]): Promise<boolean> {
  return new Promise((resolve) => {
    // A group of its own: what a test started ends with it.
    const child = spawn('npm', args, { cwd: folder, stdio: 'ignore', detached: true });
    const late = setTimeout(() => {
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
    }, LIMIT_MS);
    child.once('close', (_code, signal) => {
      clearTimeout(late);
      resolve(signal !== 'SIGKILL');
    });
  });
}

function read(report: string, folder: string): Pick<Trial, 'end' | 'by'> {
  const { success, testResults } = JSON.parse(readFileSync(report, 'utf8')) as Report;
  if (success) return { end: 'passed', by: '' };
  for (const { name, assertionResults } of testResults) {
    const failed = assertionResults.find(({ status }) => status === 'failed');
    const file = name.slice(folder.length + 1);
    if (failed !== undefined) return { end: 'failed', by: `${file}: ${failed.fullName}` };
  }
  // Not a test that saw the bug, but a file that could not be run at all.
  const [words = ''] = testResults.map(({ message }) => message).filter((message) => message !== '');
  return { end: 'broken', by: words.slice(0, 500) };
}
