import {
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
  TraceFlags,
  type Context,
  type Span,
} from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources';
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BatchSpanProcessor,
  ParentBasedSampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
  type Sampler,
  type SpanExporter,
} from '@opentelemetry/sdk-trace';
import { sleep } from '../clock.ts';
import { ERROR_TYPE } from './attributes.ts';
import { createDelivery } from './delivery.ts';
import type { TracingSettings } from './settings.ts';
import { readTraceparent, traceparentOf } from './traceparent.ts';
import type { DeliveryReport, OpenSpan, Place, SpanStart, Tracing } from './tracing.ts';

const NAME = 'payment-integrator';
/** A process that ends waits this long for a collector at most. */
const FLUSH_MS = 2_000;
/** Our attributes are short words; a longer value is a mistake, and is cut. */
const MAX_ATTRIBUTE = 256;

const KINDS = { server: SpanKind.SERVER, client: SpanKind.CLIENT };

/** OpenTelemetry's SDK without global state: two programs in one process have separate tracings. */
export function createTracing(settings: TracingSettings, report: DeliveryReport): Tracing {
  const delivery = createDelivery(settings, report);
  const provider = providerOf(settings, delivery.exporter);
  const tracer = provider.getTracer(NAME);
  const contexts = new AsyncLocalStorageContextManager().enable();
  const current = (): Span | undefined => trace.getSpan(contexts.active());

  function begin({ name, kind, attributes, parent, links = [], startedAt }: SpanStart): {
    span: Span;
    around: Context;
  } {
    const above = parent === undefined ? contexts.active() : contextOf(parent);
    const options = {
      kind: kind === undefined ? SpanKind.INTERNAL : KINDS[kind],
      links: links.map((context) => ({ context })),
      ...(attributes && { attributes }),
      ...(startedAt && { startTime: startedAt }),
    };
    const span = tracer.startSpan(name, options, above);
    return { span, around: trace.setSpan(above, span) };
  }

  return {
    span: async (start, work) => {
      const { span, around } = begin(start);
      const open = opened(span);
      try {
        return await contexts.with(around, work, undefined, open);
      } catch (error) {
        open.fail(typeOf(error));
        throw error;
      } finally {
        open.end();
      }
    },
    open: (start) => opened(begin(start).span),
    here: () => current()?.spanContext() ?? null,
    note: (attributes) => void current()?.setAttributes(attributes),
    parentIn: (headers) => (settings.propagates ? readTraceparent(headers) : null),
    headers: () => {
      const place = settings.propagates ? current()?.spanContext() : undefined;
      return place === undefined ? {} : traceparentOf(place);
    },
    logFields: () => {
      const place = current()?.spanContext();
      // A trace that was not sampled cannot be looked up.
      if (place === undefined || (place.traceFlags & TraceFlags.SAMPLED) === 0) return {};
      return { trace_id: place.traceId, span_id: place.spanId };
    },
    close: async () => {
      delivery.hurry();
      const over = new AbortController();
      await Promise.race([provider.shutdown().catch(() => undefined), sleep(FLUSH_MS, over.signal)]);
      over.abort();
      contexts.disable();
    },
  };
}

function providerOf({ sampler, batch }: TracingSettings, exporter: SpanExporter): TracerProvider {
  const ours = resourceFromAttributes({ 'service.name': NAME });
  return new TracerProvider({
    resource: ours.merge(detectResources({ detectors: [envDetector] })),
    sampler: samplerOf(sampler),
    spanLimits: { attributeValueLengthLimit: MAX_ATTRIBUTE },
    spanProcessors: [new BatchSpanProcessor({ ...batch, exporter })],
  });
}

function contextOf(parent: Place | null): Context {
  return parent === null ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, parent);
}

function opened(span: Span): OpenSpan {
  return {
    place: span.spanContext(),
    rename: (name) => void span.updateName(name),
    note: (attributes) => void span.setAttributes(attributes),
    fail: (type) => void span.setAttribute(ERROR_TYPE, type).setStatus({ code: SpanStatusCode.ERROR }),
    end: () => {
      span.end();
    },
  };
}

/** A code where there is one (PostgreSQL's, Node's), else the class. */
function typeOf(error: unknown): string {
  const { code, name } = Object(error) as { code?: unknown; name?: unknown };
  if (typeof code === 'string' && /^\w{3,40}$/.test(code)) return code;
  return typeof name === 'string' ? name : 'unknown';
}

function samplerOf({ root, ratio, followsParent }: TracingSettings['sampler']): Sampler {
  const own = {
    on: () => new AlwaysOnSampler(),
    off: () => new AlwaysOffSampler(),
    ratio: () => new TraceIdRatioBasedSampler(ratio),
  }[root]();
  return followsParent ? new ParentBasedSampler({ root: own }) : own;
}
