import { appendFile, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { afterEach, describe, expect, test } from '@jest/globals';

import { systemIdentity } from '../../../local/postgres/process-identity.ts';
import { ask, cleanUp, control, initialize, newFolder, openCheckout, start, verified } from './support.ts';

afterEach(cleanUp);

describe('the ledger file', () => {
  test('brings everything back after a restart: both modes, money, pages, refusal of used references', async () => {
    const dataDir = await newFolder();
    const before = await start({ dataDir });
    await openCheckout(before, 'paid', { amount: '12.345', localCurrency: '"KWD"' });
    await control(before, 'transactions/paid/pay', {});
    await control(before, 'transactions/paid/pay', { amount: '0.005' });
    const page = await openCheckout(before, 'open');
    await initialize(before, {}, before.liveKey);
    const truth = (await control(before, 'transactions')).text.replaceAll(before.url, '');
    await before.close();

    const after = await start({ dataDir });
    expect((await control(after, 'transactions')).text.replaceAll(after.url, '')).toBe(truth);
    expect(await verified(after, 'paid')).toEqual({ status: 'SUCCESS', amount: '12.350' });
    expect((await fetch(page.replace(before.url, after.url))).status).toBe(200);
    expect((await initialize(after, {}, after.liveKey)).status).toBe(409);
    expect((await ask(after, 'history')).json().data).toMatchObject({
      data: [{ reference: 'open' }, { reference: 'paid' }],
    });
  });

  test.each([
    ['half a line', '{"type":"paid","at":"2026-'],
    ['a line of zero bytes', '\0\0\0\0\n'],
  ])('ending in %s loses only that, and takes new lines behind the good ones', async (_, torn) => {
    const dataDir = await newFolder();
    const file = join(dataDir, 'ledger.ndjson');
    const before = await start({ dataDir });
    await openCheckout(before, 'kept');
    await before.close();
    const good = await readFile(file, 'utf8');
    await appendFile(file, torn);

    const mended = await start({ dataDir });
    expect(await readFile(file, 'utf8')).toBe(good);
    await openCheckout(mended, 'new');
    await mended.close();
    const after = await start({ dataDir });
    expect((await ask(after, 'history')).json().data).toMatchObject({ total: 2 });
  });

  test('damaged anywhere else is refused and left as it is', async () => {
    const dataDir = await newFolder();
    const file = join(dataDir, 'ledger.ndjson');
    const before = await start({ dataDir });
    for (const reference of ['a', 'b']) await openCheckout(before, reference);
    await before.close();
    const damaged = `nonsense\n${await readFile(file, 'utf8')}`;
    await writeFile(file, damaged);
    await expect(start({ dataDir })).rejects.toThrow('line 1 of the sandbox ledger is damaged');
    expect(await readFile(file, 'utf8')).toBe(damaged);
  });

  test('holds an answered call before its answer is out', async () => {
    const dataDir = await newFolder();
    const sandbox = await start({ dataDir });
    await Promise.all(
      Array.from({ length: 50 }, async (_, count) => {
        await openCheckout(sandbox, `r${count}`);
        expect(await readFile(join(dataDir, 'ledger.ndjson'), 'utf8')).toContain(`"r${count}"`);
      }),
    );
  });

  test('stays empty after a reset and a restart', async () => {
    const dataDir = await newFolder();
    const before = await start({ dataDir });
    await openCheckout(before, 'a');
    await control(before, 'reset', {});
    await before.close();
    const after = await start({ dataDir });
    expect((await control(after, 'transactions')).text).toBe('{"transactions":[]}');
  });

  test('has one writer, and is free again once that one has closed', async () => {
    const dataDir = await newFolder();
    const first = await start({ dataDir });
    await expect(start({ dataDir })).rejects.toThrow('in use');
    await first.close();
    await expect(start({ dataDir })).resolves.toBeDefined();
  });

  test('of a writer that was killed is taken over', async () => {
    const dataDir = await newFolder();
    const owner = { pid: 4_194_305, purpose: 'the sandbox', system: systemIdentity() }; // above the largest pid Linux gives
    await writeFile(join(dataDir, 'owner-1.json'), JSON.stringify(owner));
    await expect(start({ dataDir })).resolves.toBeDefined();
  });

  test('is not there without a data folder', async () => {
    const sandbox = await start();
    await openCheckout(sandbox, 'a');
    await expect(stat('ledger.ndjson')).rejects.toThrow('ENOENT');
  });
});
