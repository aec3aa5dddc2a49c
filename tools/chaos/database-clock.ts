import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** The wall clock of PostgreSQL's processes, which a library of Debian's sets. Durations are true. */
export type DatabaseClock = {
  /** For the processes whose clock it is. */
  env: Record<string, string>;
  /**
   * From the next look at it on. Never ahead of the machine's: while a process waits, its signals see the machine's
   * time, and a time-out that was set by a clock ahead of that would not come for as long as it is ahead.
   */
  setBack(seconds: number): void;
  /** @returns what the time was when it told this one; for runs of less than an hour */
  rightTime(told: Date): Date;
  remove(): void;
};

const LIBRARY = 'faketime/libfaketime.so.1';
const IN = '/usr/lib';

/** @throws with words that say how to get the library where it is missing */
export function openDatabaseClock(): DatabaseClock {
  const folders = existsSync(IN) ? readdirSync(IN).map((name) => join(IN, name, LIBRARY)) : [];
  const library = folders.find((path) => existsSync(path));
  if (library === undefined)
    throw new Error('libfaketime is not installed: apt-get install --no-install-recommends libfaketime');
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'integrator-chaos-clock-')));
  // The account of PostgreSQL reads it.
  chmodSync(folder, 0o755);
  const file = join(folder, 'offset');
  const jumps: { byMs: number; fromMs: number; untilMs: number }[] = [];
  const setBack = (seconds: number): void => {
    const last = jumps.at(-1);
    const byMs = seconds * 1_000;
    if (byMs > 0) jumps.push({ byMs, fromMs: Date.now(), untilMs: Infinity });
    const draft = `${file}.new`;
    writeFileSync(draft, `-${seconds}`, { mode: 0o644 });
    // Whoever reads it finds all of it.
    renameSync(draft, file);
    if (last !== undefined) last.untilMs = Math.min(last.untilMs, Date.now());
  };
  setBack(0);
  return {
    env: {
      LD_PRELOAD: library,
      FAKETIME_TIMESTAMP_FILE: file,
      FAKETIME_NO_CACHE: '1',
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
    },
    setBack,
    rightTime: (told) => {
      const toldMs = told.getTime();
      const jump = jumps.find(
        ({ byMs, fromMs, untilMs }) => toldMs + byMs >= fromMs && toldMs + byMs <= untilMs,
      );
      return jump === undefined ? told : new Date(toldMs + jump.byMs);
    },
    remove: () => {
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
