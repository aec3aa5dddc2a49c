// What a person who waits for a page waits for the service, in milliseconds: a shopper who comes back, or an
// operator who asks. The time of the database comes on top.

/** For the turn of the call; of a checkout, too, whose call itself may take longer. */
export const PERSON_TURN_MS = 2_000;
/** For the call itself. */
export const PERSON_CALL_MS = 4_000;
/** Of that, for the answer's headers: what is left is for its body. */
export const PERSON_HEADERS_MS = PERSON_CALL_MS - 500;
export const PERSON_WAIT_MS = PERSON_TURN_MS + PERSON_CALL_MS;
