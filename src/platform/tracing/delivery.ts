import { SpanStatusCode } from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import type { ReadableSpan, SpanExporter } from '@opentelemetry/sdk-trace';
import type { TracingSettings } from './settings.ts';
import type { DeliveryReport } from './tracing.ts';

type Delivery = {
  exporter: SpanExporter;
  /** From here on, a collector that failed the last time is not called again. */
  hurry(): void;
};

type Done = Parameters<SpanExporter['export']>[1];
type Result = Parameters<Done>[0];

/** Exports spans. A failure to deliver them is reported once; only spans are lost then. */
export function createDelivery(
  { exporter: kind, timeoutMs }: TracingSettings,
  report: DeliveryReport,
): Delivery {
  const exporter =
    kind === 'console'
      ? createLines()
      : new OTLPTraceExporter(timeoutMs === null ? {} : { timeoutMillis: timeoutMs });
  let failure: Result | null = null;
  let isInHurry = false;

  function note(result: Result): void {
    const { error } = result;
    const hasFailed = error !== undefined;
    if (hasFailed !== (failure !== null)) report(hasFailed ? reasonOf(error) : null);
    failure = hasFailed ? result : null;
  }

  return {
    exporter: {
      ...(exporter.forceFlush && { forceFlush: () => exporter.forceFlush?.() ?? Promise.resolve() }),
      shutdown: () => exporter.shutdown(),
      export: (spans, done) => {
        if (isInHurry && failure !== null) {
          done(failure);
          return;
        }
        const end = (result: Result): void => {
          note(result);
          done(result);
        };
        try {
          exporter.export(spans, end);
        } catch (error) {
          // If `done` is never called, the library waits, and with it the end of the process.
          end({
            code: FAILED.code,
            error: error instanceof Error ? error : new Error('thrown, and no error'),
          });
        }
      },
    },
    hurry: () => {
      isInHurry = true;
    },
  };
}

// The codes are those of an enum that no package of ours exports.
const DELIVERED = { code: 0 } as unknown as Result;
const FAILED = { code: 1 } as unknown as Result;

/** A collector's own message may be anything, so it is not reported. */
function reasonOf(error: Error): string {
  const { code, name } = error as { code?: unknown; name: string };
  if (typeof code === 'number') return `the collector answered HTTP ${code}`;
  return typeof code === 'string' ? code : name;
}

/** One line of JSON for each span, on standard error: standard output belongs to log lines and results. */
function createLines(): SpanExporter {
  return {
    export: (spans, done) => {
      process.stderr.write(spans.map((span) => `${JSON.stringify(lineOf(span))}\n`).join(''));
      done(DELIVERED);
    },
    shutdown: () => Promise.resolve(),
  };
}

// A span is an object with methods: spreading it into another object loses them.
function lineOf(one: ReadableSpan): object {
  const { name, attributes, status, duration, parentSpanContext } = one;
  const { traceId, spanId } = one.spanContext();
  const [seconds, nanoseconds] = duration;
  return {
    span: name,
    trace_id: traceId,
    span_id: spanId,
    ...(parentSpanContext && { parent_id: parentSpanContext.spanId }),
    ms: Math.round(seconds * 1e6 + nanoseconds / 1e3) / 1e3,
    ...(status.code === SpanStatusCode.ERROR && { failed: true }),
    ...attributes,
  };
}
