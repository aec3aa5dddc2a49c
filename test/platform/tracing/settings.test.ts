import { describe, expect, test } from '@jest/globals';
import { readTracingSettings } from '../../../src/platform/tracing/settings.ts';

const ENDPOINT = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318' };

function read(env: Record<string, string>) {
  const faults: string[] = [];
  return { settings: readTracingSettings(env, faults), faults };
}

describe('traces are on only when somebody says where to', () => {
  test.each([
    ['nothing is set', {}, false],
    ['only a name is set', { OTEL_SERVICE_NAME: 'shop' }, false],
    ['empty variables', { OTEL_TRACES_EXPORTER: '', OTEL_EXPORTER_OTLP_ENDPOINT: ' ' }, false],
    ['an endpoint', ENDPOINT, true],
    ['an endpoint for traces', { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'https://a.example/v1/traces' }, true],
    ['an exporter', { OTEL_TRACES_EXPORTER: 'otlp' }, true],
    ['an endpoint, and no traces', { ...ENDPOINT, OTEL_TRACES_EXPORTER: 'none' }, false],
    ['an endpoint, and all disabled', { ...ENDPOINT, OTEL_SDK_DISABLED: 'TRUE' }, false],
    ['an endpoint, and not disabled', { ...ENDPOINT, OTEL_SDK_DISABLED: 'false' }, true],
  ] as const)('%s', (_name, env, isOn) => {
    const { settings, faults } = read(env);
    expect(faults).toEqual([]);
    expect(settings !== null).toBe(isOn);
  });
});

test('what is wrong is told by name and never by value, and only while traces are on', () => {
  const wrong = {
    OTEL_EXPORTER_OTLP_ENDPOINT: 'http://me:c4n4ry@collector:4318',
    OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc-c4n4ry',
    OTEL_TRACES_EXPORTER: 'c4n4ry',
    OTEL_TRACES_SAMPLER: 'c4n4ry',
    OTEL_PROPAGATORS: 'c4n4ry',
    OTEL_BSP_SCHEDULE_DELAY: '-1',
    OTEL_EXPORTER_OTLP_TIMEOUT: '0',
  };
  const { faults } = read(wrong);
  expect(faults.map((fault) => fault.split(':')[0]).sort()).toEqual(Object.keys(wrong).sort());
  expect(faults.join('\n')).not.toContain('c4n4ry');
  expect(read({ ...wrong, OTEL_SDK_DISABLED: 'true' })).toEqual({ settings: null, faults: [] });
});

describe('all traces are kept, or a share of them', () => {
  test.each([
    [{}, 1],
    [{ OTEL_TRACES_SAMPLER: 'parentbased_always_on', OTEL_TRACES_SAMPLER_ARG: '0.25' }, 1],
    [{ OTEL_TRACES_SAMPLER: 'parentbased_traceidratio', OTEL_TRACES_SAMPLER_ARG: '0.25' }, 0.25],
  ])('%j', (env, ratio) => {
    expect(read({ ...ENDPOINT, ...env })).toMatchObject({ faults: [], settings: { ratio } });
  });

  test.each(['1.5', '-0.1', 'half'])('a share of %s is none', (share) => {
    const env = {
      ...ENDPOINT,
      OTEL_TRACES_SAMPLER: 'parentbased_traceidratio',
      OTEL_TRACES_SAMPLER_ARG: share,
    };
    expect(read(env).faults).toEqual(['OTEL_TRACES_SAMPLER_ARG: must be a number from 0 to 1']);
  });
});

test('whoever sets no time-out gets a short one, and a set one is left to the exporter', () => {
  expect(read(ENDPOINT).settings?.timeoutMs).toBe(2_000);
  expect(read({ ...ENDPOINT, OTEL_EXPORTER_OTLP_TRACES_TIMEOUT: '9000' }).settings?.timeoutMs).toBeNull();
});
