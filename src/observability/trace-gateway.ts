import type { Client } from '../gateway/http/client.ts';
import type { Gateway } from '../gateway/gateway.ts';
import {
  HTTP_STATUS,
  OUTCOME,
  REFERENCE,
  type Attributes,
  type OpenSpan,
  type SpanStart,
  type Tracing,
} from '../platform/tracing/tracing.ts';
import type { Reference } from '../platform/ids.ts';
import { failureOf } from './meters.ts';

/**
 * A span for each call to the service, including the wait for its turn. No trace headers are sent: the
 * service, a third party, must not learn which trace a payment belongs to.
 */
export function traceGateway(gateway: Gateway, tracing: Tracing): Gateway {
  return {
    ...gateway,
    initialize: (request) =>
      ask(
        tracing,
        startOf('initialize', request.reference),
        () => gateway.initialize(request),
        ({ outcome }) => ({ [OUTCOME]: outcome }),
      ),
    verify: (reference, ...how) =>
      ask(
        tracing,
        startOf('verify', reference),
        () => gateway.verify(reference, ...how),
        ({ kind, httpStatus }) => ({ [OUTCOME]: kind, [HTTP_STATUS]: httpStatus }),
      ),
    client: traceClient(gateway.client, tracing),
  };
}

/** History and the other lists. Their URLs contain cursors and dates, so they are not recorded. */
function traceClient(client: Client, tracing: Tracing): Client {
  return {
    call: (request) => ask(tracing, startOf('list'), () => client.call(request), statusOf),
    stream: async (request) => {
      const span = tracing.open(startOf('list'));
      try {
        const answer = await client.stream(request);
        span.note(statusOf(answer));
        return { ...answer, body: untilRead(answer.body, span) };
      } catch (error) {
        span.note({ [OUTCOME]: failureOf(error) });
        span.fail('unanswered');
        span.end();
        throw error;
      }
    },
    close: () => client.close(),
  };
}

async function ask<Answer>(
  tracing: Tracing,
  start: SpanStart,
  question: () => Promise<Answer>,
  answered: (answer: Answer) => Attributes,
): Promise<Answer> {
  return tracing.span(start, async (span) => {
    try {
      const answer = await question();
      span.note(answered(answer));
      return answer;
    } catch (error) {
      span.note({ [OUTCOME]: failureOf(error) });
      throw error;
    }
  });
}

function startOf(endpoint: 'initialize' | 'verify' | 'list', reference?: Reference): SpanStart {
  return {
    name: `service ${endpoint}`,
    kind: 'client',
    ...(reference !== undefined && { attributes: { [REFERENCE]: reference } }),
  };
}

function statusOf({ status }: { status: number }): Attributes {
  return { [HTTP_STATUS]: status, [OUTCOME]: status >= 200 && status < 300 ? 'answered' : 'refused' };
}

/** The span of a list ends when its last byte has been read. */
async function* untilRead(body: AsyncIterable<Buffer>, span: OpenSpan): AsyncGenerator<Buffer> {
  try {
    yield* body;
  } catch (error) {
    span.fail('broken-off');
    throw error;
  } finally {
    span.end();
  }
}
