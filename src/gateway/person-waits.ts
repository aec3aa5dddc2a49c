// What a person who waits for a page waits for the service, in milliseconds: a shopper who comes back, or an
// operator who asks. The time of the database comes on top.

/** For the turn of the call. */
export const PERSON_TURN_MS = 2_000;
/** For the call itself. */
export const PERSON_CALL_MS = 4_000;
export const PERSON_WAIT_MS = PERSON_TURN_MS + PERSON_CALL_MS;
