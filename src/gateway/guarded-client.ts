import type { Breaker, CallOutcome } from './breaker.ts';
import type { Budget, Urgency } from './budget.ts';
import { ClientError, type Client } from './client.ts';
import { GatewayNotAsked } from './errors.ts';

/**
 * Milliseconds to wait for a turn. Shoppers wait no longer than they would look at a page that does not move. What the
 * clock asks may wait longer, but its wait and its call (10 s) must fit into a row's lease (30 s) with room to spare.
 */
const MAX_WAIT_MS: Record<Urgency, number> = {
  return: 2_000,
  hint: 10_000,
  checkout: 2_000,
  background: 10_000,
};

/** A call that may go out: how it ended, and that it is over. */
type Pass = { note(outcome: CallOutcome): void; leave(): void };

/**
 * A client whose calls keep to the budget and stop at the breaker; what may not go out throws
 * {@link GatewayNotAsked}. Nothing here repeats a call.
 */
export function guardClient(client: Client, budget: Budget, breaker: Breaker, urgency: Urgency): Client {
  async function enter(): Promise<Pass> {
    // Before the wait, so that nobody waits for a refusal; and after it, as the service may have failed meanwhile.
    if (breaker.blockedMs() > 0) throw isFailing(breaker);
    const leave = await budget.take(urgency, MAX_WAIT_MS[urgency]);
    if (leave === null) throw new GatewayNotAsked('budget-exhausted');
    const note = breaker.admit();
    if (note !== null) return { note, leave };
    leave();
    throw isFailing(breaker);
  }

  return {
    call: async (request) => {
      const pass = await enter();
      try {
        const answer = await client.call(request);
        pass.note(outcomeOfStatus(answer.status));
        return answer;
      } catch (error) {
        pass.note(outcomeOfError(error));
        throw error;
      } finally {
        pass.leave();
      }
    },
    // Its headers tell how the service is; how long the body takes is up to its reader, too. It is in flight until then.
    stream: async (request) => {
      const pass = await enter();
      try {
        const answer = await client.stream(request);
        pass.note(outcomeOfStatus(answer.status));
        // A body that nobody begins to read ends only by this.
        request.signal?.addEventListener('abort', pass.leave, { once: true });
        return { ...answer, body: thenLeave(answer.body, pass) };
      } catch (error) {
        pass.note(outcomeOfError(error));
        pass.leave();
        throw error;
      }
    },
    close: () => client.close(),
  };
}

async function* thenLeave(body: AsyncIterable<Buffer>, pass: Pass): AsyncGenerator<Buffer> {
  try {
    yield* body;
  } finally {
    pass.leave();
  }
}

function isFailing(breaker: Breaker): GatewayNotAsked {
  // Whole seconds, and never 0: that would be an invitation.
  return new GatewayNotAsked('service-is-failing', Math.max(Math.ceil(breaker.blockedMs() / 1_000), 1));
}

/** A 4xx is an answer of a service that works, and so is 429: it has its own way to slow us down. */
function outcomeOfStatus(status: number): CallOutcome {
  return status >= 500 ? 'failed' : 'answered';
}

const TIME_OUTS = /^(UND_ERR_(CONNECT|HEADERS|BODY)_TIMEOUT|ETIMEDOUT)$/;

function outcomeOfError(error: unknown): CallOutcome {
  if (!(error instanceof ClientError)) return 'unknown';
  // Without a cause there was an answer, and it was us who did not take it.
  if (error.cause === undefined) return 'answered';
  const { code, name } = error.cause as { code?: unknown; name?: unknown };
  if (name === 'TimeoutError' || TIME_OUTS.test(String(code))) return 'timed-out';
  return name === 'AbortError' ? 'unknown' : 'failed';
}
