import { describe, expect, test } from '@jest/globals';
import { createProgress, type Progress } from '../../src/reconciliation/progress.ts';

function watch(isTTY: boolean) {
  let text = '';
  let nowMs = 0;
  const clock = { now: () => new Date(0), elapsedMs: () => nowMs };
  const progress = createProgress({ isTTY, columns: 60, write: (more: string) => (text += more) }, clock);
  return {
    at: (ms: number, step: Progress) => {
      nowMs = ms;
      progress.show(step);
    },
    end: progress.end,
    text: () => text,
  };
}

describe('progress', () => {
  test('is a line every few seconds where nobody watches', () => {
    const log = watch(false);
    for (let ms = 0; ms <= 11_000; ms += 100) log.at(ms, { step: 'history', records: ms, pages: 1 });
    log.end();
    expect(log.text()).toBe(
      'reading history: 5000 records, 1 pages\nreading history: 10000 records, 1 pages\n',
    );
  });

  test('is a bar that moves in one line on a terminal, and leaves it clean', () => {
    const terminal = watch(true);
    terminal.at(0, { step: 'verify', done: 1, total: 4 });
    terminal.at(200, { step: 'verify', done: 4, total: 4 });
    terminal.end();
    expect(terminal.text()).toContain('[######..................] verifying payments: 1 of 4');
    expect(terminal.text()).toContain('[########################] verifying payments: 4 of 4');
    expect(terminal.text()).not.toContain('\n');
    expect(terminal.text().endsWith('\r\u001b[K')).toBe(true);
  });
});
