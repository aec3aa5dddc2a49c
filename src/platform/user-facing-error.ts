/** An error that a person can fix from the message alone. It is shown without a stack trace. */
export class UserFacingError extends Error {
  readonly exitCode: number;

  /** @param exitCode exit code of the process if this error ends it */
  constructor(message: string, exitCode = 1) {
    super(message);
    this.exitCode = exitCode;
  }
}
