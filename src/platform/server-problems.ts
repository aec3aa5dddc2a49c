/** A refusal: its HTTP status, its title, its cause, and what the caller can do about it. */
export type ProblemKind = { status: number; title: string; cause: string; cure: string };

/** The refusals with a status of 5xx: this program, the service or the database cannot do it now. */
export const SERVER_PROBLEMS = {
  'internal-error': {
    status: 500,
    title: 'Something went wrong on our side',
    cause: 'A fault of this program; the log has it.',
    cure: 'Try again; with an Idempotency-Key nothing happens twice. Then look into the log.',
  },
  'payment-refused': {
    status: 502,
    title: 'The payment service refused to open a checkout',
    cause:
      'The service answered initialize with a definite no: a bad e-mail address, an amount it ' +
      'does not take, a refused key.',
    cure: 'The log names the reason. The order is kept: start a checkout with its orderId.',
  },
  starting: {
    status: 503,
    title: 'The server is starting, try again in a moment',
    cause: 'The process listens already, and its database is not there yet.',
    cure: 'Wait for Retry-After.',
  },
  stopping: {
    status: 503,
    title: 'The server is about to stop, ask another one',
    cause:
      'The process was told to stop. Other addresses still answer for a moment, `/readyz` sends ' +
      'new traffic elsewhere.',
    cure: 'Take this node out of the balancer.',
  },
  'payment-service-unavailable': {
    status: 503,
    title: 'The payment service cannot be reached right now',
    cause:
      'The service did not answer, answered with an error, or has failed so often that it is not ' +
      'asked for a while.',
    cure:
      'Wait for Retry-After and repeat the request under its Idempotency-Key, or start a checkout ' +
      'with the orderId of this answer. Nothing is charged twice.',
  },
  'currency-stopped': {
    status: 503,
    title: 'New payments in this currency are stopped for the time being',
    cause:
      'Two payments of this currency came in at ten times, a hundred times or such a part of ' +
      'what was asked for: the unit of amounts may have been mistaken. Or a person has stopped it.',
    cure: 'An operator looks at it (npm run currencies) and lets it go on. An order that exists is kept.',
  },
  'checkouts-stopped': {
    status: 503,
    title: 'No new payment begins for the time being',
    cause: 'A person or the shop’s own system has stopped all new checkouts. Open payments go on.',
    cure: 'Wait for Retry-After. Who stopped them, and why: npm run currencies. An order that exists is kept.',
  },
  'database-unavailable': {
    status: 503,
    title: 'The database cannot be reached right now',
    cause: 'PostgreSQL does not answer, or the connection to it broke while it wrote.',
    cure:
      'Try again: a checkout under its Idempotency-Key is never opened twice. Services repeat ' +
      'their webhooks by themselves.',
  },
} as const satisfies Record<string, ProblemKind>;
