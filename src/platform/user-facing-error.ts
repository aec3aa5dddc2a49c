/** An error that a person can mend from the message alone: a stack trace would only hide it. */
export class UserFacingError extends Error {
  readonly exitCode: number;

  /** @param exitCode of a process that ends because of it */
  constructor(message: string, exitCode = 1) {
    super(message);
    this.exitCode = exitCode;
  }
}
