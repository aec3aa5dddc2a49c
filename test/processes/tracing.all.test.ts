import { afterEach, describe, expect, test } from '@jest/globals';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { startCollector } from '../support/collector.ts';
import { cloneDatabase } from '../support/database.ts';
import { cleanUp, newFolder, onCleanUp, startProcess } from '../support/process.ts';
import { startShop } from '../support/shop-process.ts';

afterEach(cleanUp);

/** What a process that ran with `NODE_V8_COVERAGE` in this folder had loaded when it ended. */
function modulesIn(folder: string): string[] {
  const files = readdirSync(folder).map((file) => readFileSync(join(folder, file), 'utf8'));
  const scripts = files.map((text) => (JSON.parse(text) as { result: { url: string }[] }).result);
  return scripts.flat().map(({ url }) => url);
}

/** Runs `npm start` for one checkout. @returns what it said and how it ended */
async function runShop(env: Record<string, string>) {
  const { url, drop } = await cloneDatabase();
  onCleanUp(drop);
  const shop = await startShop({ env: { DATABASE_URL: url, ...env } });
  const { orderId, reference } = await shop.checkout();
  await shop.hand(`transactions/${reference}/pay`);
  await shop.becomes(orderId, 'paid');
  const outcome = await shop.stop();
  const lines = outcome.stdout
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  return { ...outcome, lines, reference };
}

/** Beside the interface without anything behind it, which the library of the metrics loads for itself. */
const ofOpenTelemetry = (modules: string[]): string[] =>
  modules.filter((url) => /@opentelemetry\/(?!api\/)|\/tracing\/sdk\.[jt]s/.test(url));

describe('a server', () => {
  test('that nobody asks for traces loads nothing of OpenTelemetry', async () => {
    const coverage = await newFolder();
    const env = { OTEL_SERVICE_NAME: 'shop', OTEL_SDK_DISABLED: 'true', NODE_V8_COVERAGE: coverage };
    const { lines } = await runShop(env);
    const loaded = modulesIn(coverage);
    expect(loaded.length).toBeGreaterThan(300);
    expect(loaded.some((url) => /\/src\/observability\/observe\.[jt]s$/.test(url))).toBe(true);
    expect(ofOpenTelemetry(loaded)).toEqual([]);
    expect(lines.filter((line) => 'trace_id' in line)).toEqual([]);
  });

  test('that is asked loads it, sends all it has when it is stopped, and names the trace in its lines', async () => {
    const collector = await startCollector();
    onCleanUp(() => collector.close());
    const coverage = await newFolder();
    const { code, lines, reference } = await runShop({
      NODE_V8_COVERAGE: coverage,
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      // Only what is sent at the end can be there.
      OTEL_BSP_SCHEDULE_DELAY: '600000',
    });
    expect(code).toBe(0);
    expect(ofOpenTelemetry(modulesIn(coverage))).not.toEqual([]);
    const [checkout] = collector.named('POST /checkout');
    expect(checkout?.attributes).toMatchObject({ 'integrator.reference': reference });
    expect(checkout?.resource).toEqual({ 'service.name': 'payment-integrator' });
    expect(lines.find(({ msg }) => msg === 'checkout opened')).toMatchObject({
      trace_id: checkout?.traceId,
      reference,
    });
    const [confirm] = collector.named('confirm');
    expect(lines.find(({ msg }) => msg === 'order is paid')).toMatchObject({
      trace_id: confirm?.traceId,
      span_id: confirm?.spanId,
      reference,
    });
  });

  const collectors: [name: string, address: () => Promise<string>][] = [
    ['nobody listens there', () => Promise.resolve('http://127.0.0.1:9')],
    [
      'it refuses',
      async () => {
        const collector = await startCollector(503);
        onCleanUp(() => collector.close());
        return collector.url;
      },
    ],
  ];
  test.each(collectors)('works and ends as ever when its collector is away: %s', async (_name, address) => {
    const { code, stderr, lines } = await runShop({
      OTEL_EXPORTER_OTLP_ENDPOINT: await address(),
      OTEL_BSP_SCHEDULE_DELAY: '20',
    });
    expect(code).toBe(0);
    expect(stderr).toBe('');
    const told = lines.filter(({ msg }) => String(msg).includes('traces'));
    expect(told.length).toBeLessThanOrEqual(1);
  });
});

test('a wrong variable is a fault of the configuration like any other', async () => {
  const env = { OTEL_TRACES_EXPORTER: 'otlp', OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' };
  const { code, stderr } = await startProcess('server', { cwd: await newFolder(), env }).ended();
  expect(code).toBe(78);
  expect(stderr).toContain(
    "OTEL_EXPORTER_OTLP_PROTOCOL: must be http/protobuf, the collector's port for it is 4318",
  );
});
