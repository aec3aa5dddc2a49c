/** Reconciliation did not begin: the run is not complete. Nothing was taken; the command exits with 2. */
export class BeginRefusedError extends Error {
  constructor(problem: string) {
    super(
      `reconciliation did not begin, and nothing was taken, because the run is not complete: ${problem}. ` +
        'Begin again when that is mended',
    );
    this.name = 'BeginRefusedError';
  }
}

/** A run has ended since the last scheduled one of this worker. Nothing was read or changed. */
export class ReconciliationNotDueError extends Error {
  readonly dueInMs: number;
  constructor(dueInMs: number) {
    super('another worker has reconciled since');
    this.name = 'ReconciliationNotDueError';
    this.dueInMs = dueInMs;
  }
}

/** Another run of the same mode is active. Nothing was read or changed; the command exits with 2. */
export class ReconciliationRunningError extends Error {
  constructor() {
    super('another reconciliation is running: wait until it has finished, then run this one again');
    this.name = 'ReconciliationRunningError';
  }
}
