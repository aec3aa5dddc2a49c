import {
  defaultTextMapGetter,
  defaultTextMapSetter,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
  TraceFlags,
  type Context,
  type Span,
} from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { ExportResultCode, W3CTraceContextPropagator, type ExportResult } from '@opentelemetry/core';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources';
import {
  BatchSpanProcessor,
  ParentBasedSampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
  type SpanExporter,
} from '@opentelemetry/sdk-trace';
import { sleep } from '../clock.ts';
import type { TracingSettings } from './settings.ts';
import {
  ERROR_TYPE,
  type DeliveryReport,
  type OpenSpan,
  type Place,
  type SpanStart,
  type Tracing,
} from './tracing.ts';

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
  const propagator = new W3CTraceContextPropagator();
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
    parentIn: (headers) => {
      const named = propagator.extract(ROOT_CONTEXT, headers, defaultTextMapGetter);
      return settings.propagates ? (trace.getSpanContext(named) ?? null) : null;
    },
    headers: () => {
      const headers: Record<string, string> = {};
      if (settings.propagates) propagator.inject(contexts.active(), headers, defaultTextMapSetter);
      return Object.fromEntries(Object.entries(headers).filter(([, text]) => text !== ''));
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

function providerOf({ ratio, pauseMs }: TracingSettings, exporter: SpanExporter): TracerProvider {
  const ours = resourceFromAttributes({ 'service.name': NAME });
  const batch = pauseMs === null ? {} : { scheduledDelayMillis: pauseMs };
  return new TracerProvider({
    resource: ours.merge(detectResources({ detectors: [envDetector] })),
    sampler: new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(ratio) }),
    spanLimits: { attributeValueLengthLimit: MAX_ATTRIBUTE },
    spanProcessors: [new BatchSpanProcessor({ ...batch, exporter })],
  });
}

type Delivery = {
  exporter: SpanExporter;
  /** From here on, a collector that failed the last time is not called again. */
  hurry(): void;
};

/** Exports spans. A failure to deliver them is reported once; only spans are lost then. */
function createDelivery({ timeoutMs }: TracingSettings, report: DeliveryReport): Delivery {
  const exporter = new OTLPTraceExporter(timeoutMs === null ? {} : { timeoutMillis: timeoutMs });
  let failure: ExportResult | null = null;
  let isInHurry = false;
  return {
    exporter: {
      forceFlush: () => exporter.forceFlush(),
      shutdown: () => exporter.shutdown(),
      export: (spans, done) => {
        if (isInHurry && failure !== null) {
          done(failure);
          return;
        }
        exporter.export(spans, (result) => {
          const hasFailed = result.code === ExportResultCode.FAILED;
          if (hasFailed !== (failure !== null)) report(hasFailed ? reasonOf(result.error) : null);
          failure = hasFailed ? result : null;
          done(result);
        });
      },
    },
    hurry: () => {
      isInHurry = true;
    },
  };
}

/** A collector's own message may be anything, so it is not reported. */
function reasonOf(error: Error | undefined): string {
  const { code, name } = Object(error) as { code?: unknown; name?: string };
  if (typeof code === 'number') return `the collector answered HTTP ${code}`;
  return typeof code === 'string' ? code : (name ?? 'unknown');
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
