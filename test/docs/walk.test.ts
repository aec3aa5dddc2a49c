import { afterEach, describe, expect, test } from '@jest/globals';
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Receiver, ReceiverContext, Release } from '../../src/fulfilment/release.ts';
import { systemClock } from '../../src/platform/clock.ts';
import type { Mode } from '../../src/platform/mode.ts';
import { someOf } from '../support/extent.ts';
import { cleanUp } from '../support/process.ts';
import { eventually } from '../support/program.ts';
import { testOfAll } from '../support/test-of-all.ts';
import { copyCheckout, type Checkout } from './checkout.ts';
import { fileOf, pageOf, type Block, type Page } from '../../tools/smaller/blocks.ts';
import { readPages } from './markdown.ts';
import { outputFault } from './output.ts';

// Somebody follows each page from its first line to its last in a checkout of their own, and sees what it says they see.

afterEach(cleanUp);

const isPlayed = ({ language, info }: Block): boolean =>
  language === 'sh' && /^(run|start|eventually)\b/.test(info);
const pages = readPages();
/** A page of twenty commands, each of which starts a process, on a machine that is busy with something else. */
const WALK_MS = 1_200_000;

/** The README is the first of them. */
const played = pages.filter(({ blocks }) => blocks.some(isPlayed));

test.each(someOf(played, 1).map((page) => [page.path, page] as const))(
  'whoever follows %s sees what it says',
  async (_path, page) => {
    await follow(page, await copyCheckout());
  },
  WALK_MS,
);

async function follow({ blocks }: Page, checkout: Checkout): Promise<void> {
  for (const [at, block] of blocks.entries()) {
    if (fileOf(block) !== null) checkout.write(block);
    if (!isPlayed(block)) continue;
    if (block.info.startsWith('start')) {
      await checkout.start(block.code);
      continue;
    }
    const next = blocks[at + 1];
    const output = next !== undefined && /^output\b/.test(next.info) ? next : null;
    await play(checkout, block, output);
  }
}

/** A block that is played "eventually" only looks; it is played again until it sees what the page shows. */
async function play(checkout: Checkout, block: Block, output: Block | null): Promise<void> {
  let fault = await faultOf(checkout, block, output);
  const once = async (): Promise<boolean> => {
    fault = await faultOf(checkout, block, output);
    return fault === null;
  };
  if (fault !== null && block.info.startsWith('eventually'))
    await eventually(once, 180_000).catch(() => undefined);
  if (fault !== null) throw new Error(`${block.page} line ${block.line}: ${fault}`);
}

async function faultOf(checkout: Checkout, block: Block, output: Block | null): Promise<string | null> {
  const { code, stdout, stderr } = await checkout.run(block.code);
  const wanted = Number(/\bexits=(\d+)/.exec(block.info)?.[1] ?? 0);
  if (code !== wanted) return `ended with ${String(code)} and not ${wanted}\n${stdout}\n${stderr}`;
  const fault = output === null ? null : outputFault(output.language, output.code, stdout);
  return fault === null ? null : `${fault}\n--- stdout:\n${stdout}\n--- stderr:\n${stderr}`;
}

test('all code that the pages show stands where the house allows it', async () => {
  const { folder } = await checkoutWithShownCode();
  const house = (await import(
    pathToFileURL(join(folder, 'test/support/architecture.ts')).href
  )) as typeof import('../support/architecture.ts');
  expect(house.breaches(house.readSources(folder))).toEqual([]);
});

// The compiler reads the whole project.
testOfAll('all code that the pages show compiles in its place', async () => {
  const { folder } = await checkoutWithShownCode();
  expect(compilerFaults(folder)).toBe('');
});

test('the call of an ERP books under one key, and only a refused request is a fault of its own', async () => {
  const { folder, write } = await copyCheckout();
  const shown = pages.flatMap(({ blocks }) => blocks).find((one) => fileOf(one) === 'src/custom/erp.ts');
  if (shown === undefined) throw new Error('no page shows it');
  write(shown);
  const load = (path: string): Promise<unknown> => import(pathToFileURL(join(folder, path)).href);
  const { bookInErp } = (await load('src/custom/erp.ts')) as { bookInErp(at: URL, token: string): Receiver };
  const watch = (await load('src/fulfilment/delivery-loop.ts')) as Pick<
    typeof import('../../src/fulfilment/delivery-loop.ts'),
    'createDeliveryWatch'
  >;
  let status = 0;
  const heard: unknown[] = [];
  const erp = createServer((request, response) => {
    heard.push(request.headers['idempotency-key']);
    if (status === 0) request.socket.destroy();
    else response.writeHead(status).end('{}');
  }).listen(0, '127.0.0.1');
  await once(erp, 'listening');
  const book = bookInErp(new URL(`http://127.0.0.1:${(erp.address() as AddressInfo).port}`), 'secret');
  const outcomeOf = async (mode: Mode): Promise<string> => {
    let outcome = 'tried again';
    const { failed } = watch.createDeliveryWatch({
      mode,
      clock: systemClock,
      alarm: () => Promise.resolve(void (outcome = 'a person is called')),
    });
    const total = { amount: 125_000n, currency: 'NGN' };
    const release = { id: 'rel_1', mode, total, lines: [], orderId: 'x' } as unknown as Release;
    const context = { signal: AbortSignal.timeout(60_000) } as ReceiverContext;
    return book(release, context).then(
      () => 'booked',
      (error: unknown) => (failed(error, String(error)), outcome),
    );
  };
  const outcomes: Record<number, string> = {};
  for (status of [200, 0, 429, 503, 400]) outcomes[status] = await outcomeOf('live');
  expect(outcomes).toEqual({
    200: 'booked',
    0: 'tried again',
    429: 'tried again',
    503: 'tried again',
    400: 'a person is called',
  });
  expect([new Set(heard), heard.length]).toEqual([new Set(['rel_1']), 5]);
  erp.closeAllConnections();
  erp.close();
});

async function checkoutWithShownCode(): Promise<Checkout> {
  const checkout = await copyCheckout();
  const shown = pages
    // Parts are deleted whole: test/tools/smaller.
    .filter(({ path }) => path !== 'tools/smaller/parts.md')
    .flatMap(({ blocks }) => blocks)
    .filter(({ language }) => /^(ts|tsx|js|diff)$/.test(language));
  expect(shown.length).toBeGreaterThan(0);
  const written = shown.map((block, at) =>
    fileOf(block) === null && block.language !== 'diff'
      ? { ...block, info: `file=src/shown-${at}.${block.language}` }
      : block,
  );
  for (const block of written) checkout.write(block);
  return checkout;
}

/** By the settings of the server's code, and by those of what browsers load. */
function compilerFaults(folder: string): string {
  const compiler = join(folder, 'node_modules/typescript/bin/tsc');
  const projects = ['.', 'src/api-docs/client/jsconfig.json'];
  return projects
    .map((project) => [compiler, '--noEmit', '--pretty', 'false', '-p', project])
    .map((args) => spawnSync(process.execPath, args, { cwd: folder, encoding: 'utf8' }).stdout)
    .join('');
}

describe('the walk sees what it is there to see', () => {
  const planted: [name: string, text: string, complaint: RegExp][] = [
    ['a command that fails', '```sh run\nnpm run reconsile\n```', /ended with 1 and not 0/],
    ['an exit code that is not the one shown', '```sh run exits=3\nexit 2\n```', /ended with 2 and not 3/],
    [
      'a line that does not come',
      '```sh run\necho paid\n```\n\n```text output\npending\n```',
      /"pending" did not come/,
    ],
    [
      'an answer with a field less',
      '```sh run\necho \'{"a":1}\'\n```\n\n```json output\n{"a":1,"b":2}\n```',
      /b:number/,
    ],
    [
      'a value of another kind',
      '```sh run\necho \'{"a":"1"}\'\n```\n\n```json output\n{"a":1}\n```',
      /a:string/,
    ],
    [
      'lines to change that are not there',
      '```diff file=src/app.ts\n-const nowhere = 1;\n+const here = 1;\n```',
      /stand 0 times/,
    ],
    ['a server that does not start', '```sh start\nPORT=no npm start\n```', /PORT: must be a whole number/],
  ];

  test.each(planted)('%s', async (_name, text, complaint) => {
    await expect(follow(pageOf('planted.md', text), await copyCheckout())).rejects.toThrow(complaint);
  });
});
