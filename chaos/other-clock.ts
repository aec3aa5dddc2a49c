/* Loaded before a program: its wall clock is off by so many milliseconds, as a node's may be. Durations are true. */

const offMs = Number(process.env.CLOCK_OFF_BY_MS ?? '0');
const TrueDate = Date;

class MovedDate extends TrueDate {
  constructor(...given: [] | [number | string | Date]) {
    if (given.length === 0) super(TrueDate.now() + offMs);
    else super(...given);
  }

  static override now(): number {
    return TrueDate.now() + offMs;
  }
}

globalThis.Date = MovedDate as DateConstructor;
