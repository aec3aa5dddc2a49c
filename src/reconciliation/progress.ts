import { systemClock, type Clock } from '../platform/clock.ts';

/**
 * How far a run is. Records and payments are counts so far; only the number of payments to verify is
 * known in advance (`total`).
 */
export type Progress =
  | { step: 'history'; records: number; pages: number }
  | { step: 'compare' }
  | { step: 'verify'; done: number; total: number };

/** Where progress is written: standard error, or a fake of it. */
type ProgressOutput = { isTTY?: boolean; columns?: number; write(text: string): unknown };

const TTY_EVERY_MS = 100;
const LINE_EVERY_MS = 5_000;
const BAR_WIDTH = 24;

/**
 * Shows the progress of a run: one line that is redrawn on a terminal, a new line every few seconds
 * elsewhere (logs, CI).
 * @returns what to pass to `reconcile` as `onProgress`, and a function that clears the line at the end
 */
export function createProgress(
  output: ProgressOutput,
  clock: Clock = systemClock,
): { show: (progress: Progress) => void; end: () => void } {
  const isTerminal = output.isTTY === true;
  const everyMs = isTerminal ? TTY_EVERY_MS : LINE_EVERY_MS;
  let shownMs = isTerminal ? -Infinity : clock.elapsedMs();
  return {
    show: (progress) => {
      const nowMs = clock.elapsedMs();
      if (nowMs - shownMs < everyMs) return;
      shownMs = nowMs;
      if (isTerminal) output.write(`\r\u001b[K${barOf(progress)}`.slice(0, (output.columns ?? 80) + 4));
      else output.write(`${wordsOf(progress)}\n`);
    },
    end: () => {
      if (isTerminal) output.write('\r\u001b[K');
    },
  };
}

function wordsOf(progress: Progress): string {
  switch (progress.step) {
    case 'history':
      return `reading history: ${progress.records} records, ${progress.pages} pages`;
    case 'compare':
      return 'comparing history with payments';
    case 'verify':
      return `verifying payments: ${progress.done} of ${progress.total}`;
  }
}

function barOf(progress: Progress): string {
  if (progress.step !== 'verify') return wordsOf(progress);
  const filled = Math.round((BAR_WIDTH * progress.done) / Math.max(progress.total, 1));
  return `[${'#'.repeat(filled)}${'.'.repeat(BAR_WIDTH - filled)}] ${wordsOf(progress)}`;
}
