import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { workList } from '../../src/commands/work-list.ts';
import { LISTS } from '../../src/commands/work-lists.ts';
import type { Program } from '../../src/program.ts';
import { createDueReleases } from '../../src/fulfilment/due-deliveries.ts';
import { createSendUnsent } from '../../src/fulfilment/redeliver.sql.ts';
import type { Receiver } from '../../src/fulfilment/release.ts';
import { createLogger } from '../../src/platform/logger.ts';
import { startWorker } from '../../src/bootstrap/start-worker.ts';
import { Writable } from 'node:stream';
import { eventually, startProgram, type TestProgram } from '../support/program.ts';

// A shop that is told where its releases go only after it has sold: what was recorded before is not lost silently.

let shop: TestProgram;
const ids: string[] = [];
const received: string[] = [];
const receiver: Receiver = ({ id }) => {
  received.push(id);
  return Promise.resolve();
};

beforeAll(async () => {
  shop = await startProgram();
  for (let count = 0; count < 3; count += 1) {
    const { reference } = await shop.checkout();
    await shop.hand(`transactions/${reference}/pay`, { notify: false });
    await fetch(`${shop.origin}/checkout/return/${reference}`, { redirect: 'manual' });
  }
  const rows = await shop.program.database.query<{ id: string }>(
    'SELECT id FROM releases ORDER BY released_at, id',
  );
  ids.push(...rows.map(({ id }) => id));
});
afterAll(() => shop.close());

/** The same shop, started again with a receiver. */
function withReceiver(): Program {
  const { database, alarm, logger } = shop.program;
  const parts = { database, alarm, mode: 'test', receiver, logger, onDue: () => undefined } as const;
  return {
    ...shop.program,
    hasReceiver: true,
    // Fewer at once than there are.
    sendUnsent: createSendUnsent(parts, 2),
    dueReleases: createDueReleases(parts),
  };
}

async function run(
  program: Program,
  positionals: string[],
  values: object = {},
): Promise<[number, string, string]> {
  const written = { stdout: '', stderr: '' };
  const spies = (['stdout', 'stderr'] as const).map((name) =>
    jest.spyOn(process[name], 'write').mockImplementation((text) => {
      written[name] += String(text);
      return true;
    }),
  );
  const code = await workList(program, LISTS.releases, { positionals, values: { json: false, ...values } });
  for (const spy of spies) spy.mockRestore();
  return [code, written.stdout, written.stderr];
}

const page = async (): Promise<string> => (await fetch(`${shop.origin}/admin/releases`)).text();

describe('G8: releases that were recorded while nobody received them', () => {
  test('are never called delivered: list, list for programs, page', async () => {
    const [, list] = await run(shop.program, ['list']);
    expect(list).toMatch(
      /^3 releases were recorded and never sent, the oldest on .+ there is no receiver \(FULFILMENT_URL, or one in src\/custom\)\.\n$/,
    );
    const none = 'Nothing is waiting. No delivery system is connected, so nothing is sent.';
    expect(await page()).toContain(none);
    expect(await page()).toContain('not sent</span> no delivery system was connected');
    const [, later] = await run(withReceiver(), ['list']);
    expect(later).toMatch(
      /^3 releases were recorded before there was a receiver and never sent, .+ send-unsent --by/,
    );
    const [, json, told] = await run(withReceiver(), ['list'], { json: true });
    expect(JSON.parse(json)).toEqual([]);
    expect(told).toContain('send-unsent');
  });

  test('are told of at start, once there is a receiver', async () => {
    let log = '';
    const sink = new Writable({
      write: (chunk, _encoding, done) => {
        log += String(chunk);
        done();
      },
    });
    const logger = createLogger('info', sink);
    for (const program of [shop.program, withReceiver()]) {
      const { gateway } = program;
      const worker = startWorker({
        ...program,
        logger,
        dueReleases: createDueReleases({ ...program, mode: gateway.mode, receiver: null, logger }),
        duePayments: { ...program.duePayments, start: () => undefined, stop: () => Promise.resolve() },
      });
      if (program.hasReceiver) await eventually(() => Promise.resolve(log.includes('send-unsent')));
      await worker.stop();
      if (!program.hasReceiver) expect(log).not.toContain('never sent');
    }
  });

  test('are not sent by a command without a receiver, or without a name', async () => {
    expect(await run(shop.program, ['send-unsent'], { by: 'Ngozi' })).toMatchObject([
      64,
      '',
      expect.stringContaining('FULFILMENT_URL'),
    ]);
    expect(await run(withReceiver(), ['send-unsent'])).toMatchObject([
      64,
      '',
      expect.stringContaining('--by'),
    ]);
    expect(await run(withReceiver(), ['send-unsent', ids[0] ?? ''], { by: 'Ngozi' })).toMatchObject([
      64,
      '',
      expect.anything(),
    ]);
    expect(received).toEqual([]);
  });

  test('are all sent by one command, each once under its own id, and written down', async () => {
    const program = withReceiver();
    expect(await run(program, ['send-unsent'], { by: 'Ngozi', note: 'now there is one' })).toEqual([
      0,
      'Due now: 3.\n',
      '',
    ]);
    await program.dueReleases.runOnce();
    expect([...received].sort()).toEqual([...ids].sort());
    expect(await run(program, ['list'])).toEqual([0, 'Nothing waits for delivery.\n', '']);
    expect(await page()).not.toContain('not sent</span>');
    const entries = await program.database.query(
      `SELECT cause, detail - 'release' AS detail FROM journal WHERE event = 'release-redelivery'`,
    );
    const entry = {
      cause: 'operator:Ngozi',
      detail: { was: 'unneeded', attempts: 0, note: 'now there is one' },
    };
    expect(entries).toEqual([entry, entry, entry]);
    expect(await run(program, ['send-unsent'], { by: 'Ngozi' })).toEqual([0, 'Due now: 0.\n', '']);
  });

  test('have three days of their own, however old they are', async () => {
    const { database, alarm, logger } = shop.program;
    await database.query('ALTER TABLE releases DISABLE TRIGGER releases_are_frozen');
    await database.query(
      `UPDATE releases SET delivery = 'unneeded', released_at = released_at - interval '1 year', tried_since = NULL, attempts = 0`,
    );
    await database.query('ALTER TABLE releases ENABLE TRIGGER releases_are_frozen');
    await createSendUnsent({ database, mode: 'test', receiver, onDue: () => undefined })({
      by: 'Ngozi',
      note: null,
    });
    const refuses: Receiver = () => Promise.reject(new Error('no'));
    await createDueReleases({ database, alarm, mode: 'test', receiver: refuses, logger }).runOnce();
    expect(await database.query('SELECT DISTINCT delivery, attempts FROM releases')).toEqual([
      { delivery: 'waiting', attempts: 1 },
    ]);
  });
});
