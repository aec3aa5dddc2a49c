import { createServer, type AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { openTracing } from '../../../src/bootstrap/open-program.ts';
import type { Tracing } from '../../../src/platform/tracing/tracing.ts';
import { readTracingSettings } from '../../../src/platform/tracing/settings.ts';
import { startCollector, type Collector } from '../../support/collector.ts';
import { keepLines } from '../../support/lines.ts';

const PARENT = { traceId: 'a'.repeat(32), spanId: 'b'.repeat(16) };
let collector: Collector;
beforeEach(async () => {
  collector = await startCollector();
});
afterEach(() => collector.close());

async function open(env: Record<string, string> = {}, { logger, lines } = keepLines()) {
  process.env.OTEL_EXPORTER_OTLP_ENDPOINT = env.OTEL_EXPORTER_OTLP_ENDPOINT ?? collector.url;
  const all = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_BSP_SCHEDULE_DELAY: '20', ...env };
  const tracing = await openTracing(readTracingSettings(all, []), () => logger);
  if (tracing === null) throw new Error('no tracing');
  return { tracing, lines };
}

const nothing = (): Promise<void> => Promise.resolve();
const parentOf = (tracing: Tracing, traceparent: string) => tracing.parentIn({ traceparent });

describe('a span', () => {
  test('ends with its work, and what its work throws goes on and is told by its class or code alone', async () => {
    const { tracing } = await open();
    const error = Object.assign(new TypeError('c4n4ry'), { detail: 'c4n4ry' });
    await expect(tracing.span({ name: 'work' }, () => Promise.reject(error))).rejects.toBe(error);
    const coded = Object.assign(new Error('c4n4ry'), { code: '23505' });
    await expect(tracing.span({ name: 'coded' }, () => Promise.reject(coded))).rejects.toBe(coded);
    await tracing.close();
    expect(collector.spans).toMatchObject([
      { name: 'work', isError: true, attributes: { 'error.type': 'TypeError' } },
      { name: 'coded', isError: true, attributes: { 'error.type': '23505' } },
    ]);
    expect(collector.requests.some(({ body }) => body.includes('c4n4ry'))).toBe(false);
  });

  test('is around what it runs, and no other work beside it', async () => {
    const { tracing } = await open();
    const outer = (name: string) =>
      tracing.span({ name }, async () => {
        await new Promise((resolve) => setTimeout(resolve, 5));
        await tracing.span({ name: `in ${name}` }, nothing);
      });
    await Promise.all([outer('a'), outer('b')]);
    expect(tracing.here()).toBeNull();
    await tracing.close();
    for (const name of ['a', 'b'])
      expect(collector.named(`in ${name}`)[0]?.parentId).toBe(collector.named(name)[0]?.spanId);
  });

  test('cuts what is too long to be a word', async () => {
    const { tracing } = await open();
    await tracing.span({ name: 'long', attributes: { text: 'x'.repeat(10_000) } }, nothing);
    await tracing.close();
    expect(collector.spans[0]?.attributes.text).toBe('x'.repeat(256));
  });
});

describe('a caller', () => {
  test.each([
    ['as the standard shows it', `00-${PARENT.traceId}-${PARENT.spanId}-01`, PARENT],
    ['of a later version', `01-${PARENT.traceId}-${PARENT.spanId}-01-what`, PARENT],
    ['of no version', `ff-${PARENT.traceId}-${PARENT.spanId}-01`, null],
    ['without a trace', `00-${'0'.repeat(32)}-${PARENT.spanId}-01`, null],
    ['without a span', `00-${PARENT.traceId}-${'0'.repeat(16)}-01`, null],
    ['in capitals', `00-${'A'.repeat(32)}-${PARENT.spanId}-01`, null],
    ['in pieces', `00-${PARENT.traceId}-01`, null],
    ['that is empty', '', null],
  ])('%s', async (_name, header, place) => {
    const { tracing } = await open();
    const parent = parentOf(tracing, header);
    if (place === null) expect(parent).toBeNull();
    else expect(parent).toMatchObject(place);
    await tracing.close();
  });

  test('who sampled nothing gets nothing sampled, and the callee is told so', async () => {
    const { tracing } = await open();
    const parent = parentOf(tracing, `00-${PARENT.traceId}-${PARENT.spanId}-00`);
    await tracing.span({ name: 'quiet', parent }, () => {
      expect(tracing.headers().traceparent).toMatch(new RegExp(`^00-${PARENT.traceId}-[0-9a-f]{16}-00$`));
      expect(tracing.logFields()).toEqual({});
      return nothing();
    });
    await tracing.close();
    expect(collector.spans).toEqual([]);
  });

  test('whose state of other systems is passed on, as long as it is short enough', async () => {
    const { tracing } = await open();
    const traceparent = `00-${PARENT.traceId}-${PARENT.spanId}-01`;
    const told = (tracestate: string) =>
      tracing.span({ name: 'a', parent: tracing.parentIn({ traceparent, tracestate }) }, () =>
        Promise.resolve(tracing.headers().tracestate),
      );
    expect(await told('vendor=1')).toBe('vendor=1');
    expect(await told(`vendor=${'1'.repeat(600)}`)).toBeUndefined();
    await tracing.close();
  });

  test('is not heard, and nobody is told, where propagation is switched off', async () => {
    const { tracing } = await open({ OTEL_PROPAGATORS: 'none' });
    expect(parentOf(tracing, `00-${PARENT.traceId}-${PARENT.spanId}-01`)).toBeNull();
    await tracing.span({ name: 'a' }, () => {
      expect(tracing.headers()).toEqual({});
      return nothing();
    });
    await tracing.close();
  });
});

test('a sampler that keeps nothing sends nothing', async () => {
  const { tracing } = await open({
    OTEL_TRACES_SAMPLER: 'parentbased_traceidratio',
    OTEL_TRACES_SAMPLER_ARG: '0',
  });
  await tracing.span({ name: 'a' }, nothing);
  await tracing.close();
  expect(collector.requests).toEqual([]);
});

describe('a collector that fails', () => {
  test('is told of once, by its status and not by its words, and again when it is well', async () => {
    await collector.close();
    collector = await startCollector(500);
    const { tracing, lines } = await open();
    for (let tries = 1; tries <= 3; tries += 1) {
      await tracing.span({ name: 'a' }, nothing);
      while (collector.requests.length < tries) await new Promise((resolve) => setTimeout(resolve, 10));
    }
    await tracing.close();
    expect(lines.map((line) => JSON.parse(line) as object)).toMatchObject([
      { level: 40, reason: 'the collector answered HTTP 500' },
    ]);
  });

  test('is not asked once more at the end when it is known to be away', async () => {
    let connections = 0;
    const server = createServer((socket) => {
      connections += 1;
      socket.destroy();
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const { tracing, lines } = await open({ OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}` });
    await tracing.span({ name: 'a' }, nothing);
    while (lines.length === 0) await new Promise((resolve) => setTimeout(resolve, 10));
    const before = connections;
    await tracing.span({ name: 'b' }, nothing);
    await tracing.close();
    expect(connections).toBe(before);
    expect(lines.map((line) => JSON.parse(line) as object)).toMatchObject([{ reason: 'ECONNRESET' }]);
    server.close();
  });
});
