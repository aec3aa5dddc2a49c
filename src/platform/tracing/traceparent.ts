import { createTraceState, isSpanContextValid } from '@opentelemetry/api';
import type { IncomingHttpHeaders } from 'node:http';
import type { Place } from './tracing.ts';

// W3C Trace Context: version, trace, span, flags. A later version may append more; version ff is invalid.
const TRACEPARENT = /^(?!ff)[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(?:-.*)?$/;
/** Every participant must pass on this many characters, by the standard. */
const MAX_STATE = 512;

export function readTraceparent(headers: IncomingHttpHeaders): Place | null {
  const [, traceId, spanId, flags] = TRACEPARENT.exec(String(headers.traceparent ?? '')) ?? [];
  if (traceId === undefined || spanId === undefined || flags === undefined) return null;
  const state = String(headers.tracestate ?? '');
  const place: Place = {
    traceId,
    spanId,
    traceFlags: Number.parseInt(flags, 16) & 1,
    isRemote: true,
    ...(state !== '' && state.length <= MAX_STATE && { traceState: createTraceState(state) }),
  };
  return isSpanContextValid(place) ? place : null;
}

export function traceparentOf({ traceId, spanId, traceFlags, traceState }: Place): Record<string, string> {
  const state = traceState?.serialize() ?? '';
  return {
    traceparent: `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`,
    ...(state !== '' && { tracestate: state }),
  };
}
