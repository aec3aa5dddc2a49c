/* Loaded before a program: its wall clock is off by so many milliseconds, as a node's may be, and jumps at a signal, as one
   does that is set by hand or by a leap of the network's time. Durations are true. */

let offMs = Number(process.env.CLOCK_OFF_BY_MS ?? '0');
const TrueDate = Date;

/** Each signal moves it on by the next of these, round and round: an hour of summer and back, a day lost and found. */
const JUMPS_MS = [3_600_000, -3_600_000, -86_400_000, 86_400_000];
let jumps = 0;
process.on('SIGUSR2', () => {
  offMs += JUMPS_MS[jumps % JUMPS_MS.length] ?? 0;
  jumps += 1;
});

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
