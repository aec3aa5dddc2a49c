import type { Attributes as OtelAttributes, SpanContext } from '@opentelemetry/api';
import type { IncomingHttpHeaders } from 'node:http';

/** Where a span is: what a later one may name as its parent or link to. */
export type Place = SpanContext;

/**
 * What a span says of itself: references, ids, counts and words of ours. Never a key, an e-mail address, a parameter of
 * a statement, or anything out of a body.
 */
export type Attributes = OtelAttributes;

export type SpanStart = {
  name: string;
  /** `server` took a request, `client` waits for somebody else's answer. */
  kind?: 'server' | 'client';
  attributes?: Attributes;
  /** By default the span around the caller; null: a story of its own. */
  parent?: Place | null;
  links?: readonly Place[];
  /** When it began, if that is over. */
  startedAt?: Date;
};

export type OpenSpan = {
  place: Place;
  rename(name: string): void;
  note(attributes: Attributes): void;
  /** @param type a class or a code: the words of an error may quote what nobody should read here */
  fail(type: string): void;
  end(): void;
};

/**
 * Spans by our own hand, at the doors and choke points. Where tracing is off there is no such object, and nothing is
 * wrapped: what would be watched runs as if this did not exist.
 */
export type Tracing = {
  /** Runs `work` inside a span that ends with it. What it throws marks the span as failed, and goes on. */
  span<T>(start: SpanStart, work: (span: OpenSpan) => Promise<T>): Promise<T>;
  /** A span that is around nobody; the caller ends it. */
  open(start: SpanStart): OpenSpan;
  /** The span around the caller. */
  here(): Place | null;
  /** Adds to the span around the caller, if there is one. */
  note(attributes: Attributes): void;
  /** The span that a caller says it is in; null when it says none, or is not to be heard. */
  parentIn(headers: IncomingHttpHeaders): Place | null;
  /** Headers that tell a callee of the span around us. */
  headers(): Record<string, string>;
  /** `trace_id` and `span_id` for a log line. */
  logFields(): object;
  /** Sends what is still here, for two seconds at most. */
  close(): Promise<void>;
};

/** Told once when spans cannot be delivered, and when they can again: `reason` null. */
export type DeliveryReport = (reason: string | null) => void;
