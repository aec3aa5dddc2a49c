import type { Breaker, CallOutcome } from './circuit-breaker.ts';
import type { Budget, Urgency } from './rate-limiter.ts';
import type { Client, ClientAnswer } from '../http/client.ts';
import { ClientError, GatewayNotAsked, type NotAskedReason } from '../errors.ts';
import { PERSON_TURN_MS } from '../verify.ts';
import type { Endpoint, Pauses } from './backoff.ts';

/**
 * Milliseconds to wait for a turn. Shoppers wait no longer than they would look at a page that does not
 * move. Scheduled checks may wait longer, but the wait and the call (10 s) must fit into a row's lease
 * (30 s) with room to spare.
 */
export const MAX_WAIT_MS: Record<Urgency, number> = {
  checkout: PERSON_TURN_MS,
  'person-waits': PERSON_TURN_MS,
  webhook: 10_000,
  hint: 10_000,
  background: 10_000,
  history: 10_000,
};

/** The guards between us and the service, one of each for all calls of a process. */
export type Guards = { budget: Budget; breaker: Breaker; pauses: Pauses };

/** An admitted call: `note` reports how it ended, `leave` that it is over. */
type Pass = { note(outcome: CallOutcome): void; leave(): void };

/**
 * A client for calls of one kind that obeys the budget, the pauses that the service asked for, and the
 * breaker. A call that may not go out throws {@link GatewayNotAsked}. Nothing here repeats a call.
 */
export function guardClient(client: Client, guards: Guards, endpoint: Endpoint, urgency: Urgency): Client {
  const { budget, breaker, pauses } = guards;
  function refusal(): GatewayNotAsked | null {
    if (breaker.blockedMs() > 0) return notBefore('service-is-failing', breaker.blockedMs());
    const pauseMs = pauses.remainingMs(endpoint);
    return pauseMs > 0 ? notBefore('service-asked-to-wait', pauseMs) : null;
  }

  async function enter(signal?: AbortSignal): Promise<Pass> {
    // Checked before the wait, so that no call waits only to be refused, and after it, as the service
    // may have failed meanwhile.
    const before = refusal();
    if (before !== null) throw before;
    const leave = await budget.take(urgency, MAX_WAIT_MS[urgency], signal);
    if (leave === null) throw new GatewayNotAsked(whyNoTurn(budget, signal));
    const after = refusal();
    const note = after === null ? breaker.admit() : null;
    if (note !== null) return { note, leave };
    leave();
    throw after ?? notBefore('service-is-failing', breaker.blockedMs());
  }

  return {
    call: async (request) => {
      const pass = await enter();
      try {
        const answer = await client.call(request);
        note(guards, endpoint, answer);
        pass.note(outcomeOfStatus(answer.status));
        return answer;
      } catch (error) {
        pass.note(outcomeOfError(error));
        throw error;
      } finally {
        pass.leave();
      }
    },
    // A stream is in flight until its body ends; only then is its outcome known.
    stream: async (request) => {
      const pass = await enter(request.signal);
      // Other calls wait for the probe's outcome, and they cannot wait for a whole history.
      const isProbe = breaker.isProbing();
      try {
        const answer = await client.stream(request);
        note(guards, endpoint, answer);
        const outcome = outcomeOfStatus(answer.status);
        const isKnown = isProbe || outcome === 'failed';
        if (isKnown) pass.note(outcome);
        // A body that the caller never begins to read ends only by this.
        request.signal?.addEventListener('abort', pass.leave, { once: true });
        return { ...answer, body: watched(answer.body, isKnown ? { ...pass, note: () => undefined } : pass) };
      } catch (error) {
        pass.note(outcomeOfError(error));
        pass.leave();
        throw error;
      }
    },
    close: () => client.close(),
  };
}

function note(
  { budget, pauses }: Guards,
  endpoint: Endpoint,
  answer: Pick<ClientAnswer, 'status' | 'headers'>,
): void {
  pauses.note(endpoint, answer);
  // The service's limit is below our budget: after a pause alone, the next burst would exceed it again.
  if (answer.status === 429) budget.slowDown();
}

/** A caller that stops reading halfway has received an answer, so the outcome is `answered`. */
async function* watched(body: AsyncIterable<Buffer>, { note, leave }: Pass): AsyncGenerator<Buffer> {
  let outcome: CallOutcome = 'answered';
  try {
    yield* body;
  } catch (error) {
    outcome = outcomeOfError(error);
    throw error;
  } finally {
    note(outcome);
    leave();
  }
}

function notBefore(reason: NotAskedReason, pauseMs: number): GatewayNotAsked {
  // Whole seconds, and never 0: that would invite an immediate retry.
  return new GatewayNotAsked(reason, Math.max(Math.ceil(pauseMs / 1_000), 1));
}

function whyNoTurn(budget: Budget, signal: AbortSignal | undefined): NotAskedReason {
  if (signal?.aborted === true) return 'caller-gave-up';
  return budget.isClosed() ? 'shutting-down' : 'budget-exhausted';
}

/** A 4xx is an answer of a working service, and so is 429, which has its own way to slow us down. */
function outcomeOfStatus(status: number): CallOutcome {
  return status >= 500 ? 'failed' : 'answered';
}

const TIME_OUTS = /^(UND_ERR_(CONNECT|HEADERS|BODY)_TIMEOUT|ETIMEDOUT)$/;

function outcomeOfError(error: unknown): CallOutcome {
  if (!(error instanceof ClientError)) return 'unknown';
  // Without a cause there was an answer, and we rejected it ourselves.
  if (error.cause === undefined) return 'answered';
  const { code, name } = error.cause as { code?: unknown; name?: unknown };
  if (name === 'TimeoutError' || TIME_OUTS.test(String(code))) return 'timed-out';
  return name === 'AbortError' ? 'unknown' : 'failed';
}
