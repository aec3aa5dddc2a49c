/** An error that a person can mend from the message alone: a stack trace would only hide it. */
export class UserFacingError extends Error {}
