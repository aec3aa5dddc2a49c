/**
 * The standard variables of OpenTelemetry that our own code reads. OpenTelemetry's packages
 * read OTEL_SERVICE_NAME, OTEL_RESOURCE_ATTRIBUTES and OTEL_EXPORTER_OTLP_* (headers,
 * certificates, compression) themselves.
 */
export type TracingSettings = {
  exporter: 'otlp' | 'console';
  sampler: { root: 'on' | 'off' | 'ratio'; ratio: number; followsParent: boolean };
  /** Whether W3C trace context is accepted from callers and sent to our receiver. */
  propagates: boolean;
  /** Milliseconds for one delivery where no variable sets them; null: a variable does. */
  timeoutMs: number | null;
  batch: Partial<Record<BatchOption, number>>;
};

type BatchOption = (typeof BATCH)[keyof typeof BATCH];
type Variables = Record<string, string | undefined>;

const BATCH = {
  OTEL_BSP_SCHEDULE_DELAY: 'scheduledDelayMillis',
  OTEL_BSP_EXPORT_TIMEOUT: 'exportTimeoutMillis',
  OTEL_BSP_MAX_QUEUE_SIZE: 'maxQueueSize',
  OTEL_BSP_MAX_EXPORT_BATCH_SIZE: 'maxExportBatchSize',
} as const;

const ENDPOINTS = ['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', 'OTEL_EXPORTER_OTLP_ENDPOINT'];
const TIMEOUTS = ['OTEL_EXPORTER_OTLP_TRACES_TIMEOUT', 'OTEL_EXPORTER_OTLP_TIMEOUT'];
const PROTOCOLS = ['OTEL_EXPORTER_OTLP_TRACES_PROTOCOL', 'OTEL_EXPORTER_OTLP_PROTOCOL'];

/** The standard says ten seconds. But the end of a process waits for a delivery, and a collector is near. */
const TIMEOUT_MS = 2_000;

/**
 * @param faults receives a line for every fault; it names variables, never values
 * @returns null when no traces are asked for: then all other variables are ignored
 */
export function readTracingSettings(env: Variables, faults: string[]): TracingSettings | null {
  const given = (name: string): string | undefined => {
    const text = env[name]?.trim();
    return text === '' ? undefined : text;
  };
  const exporter =
    given('OTEL_TRACES_EXPORTER') ?? (ENDPOINTS.some((name) => given(name) !== undefined) ? 'otlp' : 'none');
  if (given('OTEL_SDK_DISABLED')?.toLowerCase() === 'true' || exporter === 'none') return null;

  const isKnown = exporter === 'otlp' || exporter === 'console';
  if (!isKnown) faults.push('OTEL_TRACES_EXPORTER: must be otlp, console or none');
  for (const name of PROTOCOLS)
    if (![undefined, 'http/protobuf'].includes(given(name)))
      faults.push(`${name}: must be http/protobuf, the collector's port for it is 4318`);
  for (const name of ENDPOINTS)
    if (!isAddress(given(name)))
      faults.push(`${name}: must be an http(s) address without user name or password`);
  const numbers = Object.fromEntries(
    [...Object.keys(BATCH), ...TIMEOUTS].map((name) => [name, numberOf(name, given(name), faults)]),
  );
  return {
    exporter: isKnown ? exporter : 'otlp',
    sampler: readSampler(given, faults),
    propagates: readPropagators(given('OTEL_PROPAGATORS'), faults),
    timeoutMs: TIMEOUTS.some((name) => given(name) !== undefined) ? null : TIMEOUT_MS,
    batch: Object.fromEntries(
      Object.entries(BATCH).flatMap(([name, option]) => {
        const value = numbers[name];
        return value === undefined ? [] : [[option, value]];
      }),
    ),
  };
}

const SAMPLERS: Record<string, Omit<TracingSettings['sampler'], 'ratio'>> = {
  always_on: { root: 'on', followsParent: false },
  always_off: { root: 'off', followsParent: false },
  traceidratio: { root: 'ratio', followsParent: false },
  parentbased_always_on: { root: 'on', followsParent: true },
  parentbased_always_off: { root: 'off', followsParent: true },
  parentbased_traceidratio: { root: 'ratio', followsParent: true },
};

function readSampler(
  given: (name: string) => string | undefined,
  faults: string[],
): TracingSettings['sampler'] {
  const name = given('OTEL_TRACES_SAMPLER') ?? 'parentbased_always_on';
  const sampler = Object.hasOwn(SAMPLERS, name) ? SAMPLERS[name] : undefined;
  if (sampler === undefined)
    faults.push(`OTEL_TRACES_SAMPLER: must be one of ${Object.keys(SAMPLERS).join(', ')}`);
  const ratio = Number(given('OTEL_TRACES_SAMPLER_ARG') ?? '1');
  if (sampler?.root === 'ratio' && !(ratio >= 0 && ratio <= 1))
    faults.push('OTEL_TRACES_SAMPLER_ARG: must be a number from 0 to 1');
  return { root: 'on', followsParent: true, ...sampler, ratio };
}

function readPropagators(text = 'tracecontext', faults: string[]): boolean {
  const names = text.split(',').map((name) => name.trim());
  if (names.some((name) => !['tracecontext', 'baggage', 'none'].includes(name)))
    faults.push(
      'OTEL_PROPAGATORS: must be tracecontext or none; baggage may stand there and is not passed on',
    );
  return names.includes('tracecontext');
}

function isAddress(text: string | undefined): boolean {
  if (text === undefined) return true;
  const url = URL.canParse(text) ? new URL(text) : null;
  return url !== null && /^https?:$/.test(url.protocol) && url.username === '' && url.password === '';
}

function numberOf(name: string, text: string | undefined, faults: string[]): number | undefined {
  if (text === undefined || /^[1-9]\d{0,8}$/.test(text)) return text === undefined ? undefined : Number(text);
  faults.push(`${name}: must be a whole number above 0`);
  return undefined;
}
