import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
// As `npm test` starts it.
const JEST = 'node_modules/jest/bin/jest.js';

/** Tests of reconciliation that prove the same about as many rows as they are told to. */
const SOAKS = [
  {
    says: 'a run over 200,000 rows, killed at K15, at K16, at ten random pages and after the last one, ends as an undisturbed one',
    test: 'test/reconciliation/resume.test.ts',
    only: 'nothing disturbs|killed (in|with|again|after)',
    rows: { RESUME_ROWS: '200000' },
  },
  {
    says: '100,000 rows with every class among them, twice the same, against each paging style',
    test: 'test/reconciliation/every-class.test.ts',
    only: '',
    rows: { CLASS_ROWS: '100000' },
  },
];

/** Runs the soaks one after the other. They take minutes, so `npm test` runs them with few rows. */
export async function soakReconcile(argv: string[]): Promise<void> {
  if (argv.length > 0) throw new RangeError('npm run bench -- reconcile-soak');
  for (const { says, test, only, rows } of SOAKS) {
    process.stdout.write(`${says}\n`);
    const args = [
      '--experimental-vm-modules',
      JEST,
      '--forceExit',
      test,
      ...(only === '' ? [] : ['-t', only]),
    ];
    const jest = spawn(process.execPath, args, {
      cwd: ROOT,
      env: { ...process.env, TEST_ALL: '1', ...rows },
      stdio: 'inherit',
    });
    const [code] = (await once(jest, 'close')) as [number | null];
    if (code !== 0) process.exitCode = 1;
  }
}
