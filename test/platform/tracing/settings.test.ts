import { describe, expect, test } from '@jest/globals';
import { readTracingSettings } from '../../../src/platform/tracing/settings.ts';

const ENDPOINT = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318' };

function read(env: Record<string, string>) {
  const faults: string[] = [];
  return { settings: readTracingSettings(env, faults), faults };
}

describe('traces are on only when somebody says where to', () => {
  test.each([
    ['nothing is set', {}, null],
    ['only a name is set', { OTEL_SERVICE_NAME: 'shop' }, null],
    ['empty variables', { OTEL_TRACES_EXPORTER: '', OTEL_EXPORTER_OTLP_ENDPOINT: ' ' }, null],
    ['an endpoint', ENDPOINT, 'otlp'],
    ['an endpoint for traces', { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'https://a.example/v1/traces' }, 'otlp'],
    ['an exporter', { OTEL_TRACES_EXPORTER: 'otlp' }, 'otlp'],
    ['lines on standard error', { OTEL_TRACES_EXPORTER: 'console' }, 'console'],
    ['an endpoint, and no traces', { ...ENDPOINT, OTEL_TRACES_EXPORTER: 'none' }, null],
    ['an endpoint, and all disabled', { ...ENDPOINT, OTEL_SDK_DISABLED: 'TRUE' }, null],
    ['an endpoint, and not disabled', { ...ENDPOINT, OTEL_SDK_DISABLED: 'false' }, 'otlp'],
  ] as const)('%s', (_name, env, exporter) => {
    const { settings, faults } = read(env);
    expect(faults).toEqual([]);
    expect(settings?.exporter ?? null).toBe(exporter);
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

describe('samplers have the names of the standard', () => {
  test.each([
    [{}, { root: 'on', followsParent: true, ratio: 1 }],
    [{ OTEL_TRACES_SAMPLER: 'always_off' }, { root: 'off', followsParent: false, ratio: 1 }],
    [
      { OTEL_TRACES_SAMPLER: 'parentbased_traceidratio', OTEL_TRACES_SAMPLER_ARG: '0.25' },
      { root: 'ratio', followsParent: true, ratio: 0.25 },
    ],
  ] as const)('%j', (env, sampler) => {
    expect(read({ ...ENDPOINT, ...env })).toMatchObject({ faults: [], settings: { sampler } });
  });

  test.each(['1.5', '-0.1', 'half'])('a share of %s is none', (share) => {
    const env = { ...ENDPOINT, OTEL_TRACES_SAMPLER: 'traceidratio', OTEL_TRACES_SAMPLER_ARG: share };
    expect(read(env).faults).toEqual(['OTEL_TRACES_SAMPLER_ARG: must be a number from 0 to 1']);
  });
});

test('whoever sets no time-out gets a short one, and a set one is left to the exporter', () => {
  expect(read(ENDPOINT).settings?.timeoutMs).toBe(2_000);
  expect(read({ ...ENDPOINT, OTEL_EXPORTER_OTLP_TRACES_TIMEOUT: '9000' }).settings?.timeoutMs).toBeNull();
});
