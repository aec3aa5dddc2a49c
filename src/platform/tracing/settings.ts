/**
 * The standard variables of OpenTelemetry that our own code reads. OpenTelemetry's packages
 * read OTEL_SERVICE_NAME, OTEL_RESOURCE_ATTRIBUTES and OTEL_EXPORTER_OTLP_* (headers,
 * certificates, compression) themselves.
 */
export type TracingSettings = {
  /** The share of traces that is kept, from 0 to 1. A caller's trace is kept where the caller keeps it. */
  ratio: number;
  /** Whether W3C trace context is accepted from callers and sent to our receiver. */
  propagates: boolean;
  /** Milliseconds for one delivery where no variable sets them; null: a variable does. */
  timeoutMs: number | null;
  /** Milliseconds between two deliveries; null: as OpenTelemetry has it. */
  pauseMs: number | null;
};

type Variables = Record<string, string | undefined>;

const ENDPOINTS = ['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', 'OTEL_EXPORTER_OTLP_ENDPOINT'];
const TIMEOUTS = ['OTEL_EXPORTER_OTLP_TRACES_TIMEOUT', 'OTEL_EXPORTER_OTLP_TIMEOUT'];
const PROTOCOLS = ['OTEL_EXPORTER_OTLP_TRACES_PROTOCOL', 'OTEL_EXPORTER_OTLP_PROTOCOL'];
const PAUSE = 'OTEL_BSP_SCHEDULE_DELAY';
const ALL = 'parentbased_always_on';
const SHARE = 'parentbased_traceidratio';

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
  const check = (name: string, isRight: boolean, mustBe: string): void => {
    if (!isRight) faults.push(`${name}: must be ${mustBe}`);
  };
  const isNamed = ENDPOINTS.some((name) => given(name) !== undefined);
  const exporter = given('OTEL_TRACES_EXPORTER') ?? (isNamed ? 'otlp' : 'none');
  if (given('OTEL_SDK_DISABLED')?.toLowerCase() === 'true' || exporter === 'none') return null;

  check('OTEL_TRACES_EXPORTER', exporter === 'otlp', 'otlp or none');
  for (const name of PROTOCOLS)
    check(
      name,
      [undefined, 'http/protobuf'].includes(given(name)),
      "http/protobuf, the collector's port for it is 4318",
    );
  for (const name of ENDPOINTS)
    check(name, isAddress(given(name)), 'an http(s) address without user name or password');
  for (const name of [PAUSE, ...TIMEOUTS])
    check(name, /^[1-9]\d{0,8}$/.test(given(name) ?? '1'), 'a whole number above 0');

  const sampler = given('OTEL_TRACES_SAMPLER') ?? ALL;
  check('OTEL_TRACES_SAMPLER', sampler === ALL || sampler === SHARE, `${ALL} or ${SHARE}`);
  const ratio = sampler === SHARE ? Number(given('OTEL_TRACES_SAMPLER_ARG') ?? '1') : 1;
  check('OTEL_TRACES_SAMPLER_ARG', ratio >= 0 && ratio <= 1, 'a number from 0 to 1');

  const propagators = (given('OTEL_PROPAGATORS') ?? 'tracecontext').split(',').map((name) => name.trim());
  check(
    'OTEL_PROPAGATORS',
    propagators.every((name) => ['tracecontext', 'baggage', 'none'].includes(name)),
    'tracecontext or none; baggage may stand there and is not passed on',
  );
  return {
    ratio,
    propagates: propagators.includes('tracecontext'),
    timeoutMs: TIMEOUTS.some((name) => given(name) !== undefined) ? null : TIMEOUT_MS,
    pauseMs: given(PAUSE) === undefined ? null : Number(given(PAUSE)),
  };
}

function isAddress(text: string | undefined): boolean {
  if (text === undefined) return true;
  const url = URL.canParse(text) ? new URL(text) : null;
  return url !== null && /^https?:$/.test(url.protocol) && url.username === '' && url.password === '';
}
