import { describe, expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { ALERT_KINDS } from '../../src/alerts/alert-kinds.ts';
import { CLASSES } from '../../src/cases/classes.ts';
import { faultsOf } from './faults.ts';
import { readSources } from '../support/architecture.ts';
import { pageOf } from '../../tools/smaller/blocks.ts';
import { anchorsOf, readPages, ROOT } from './markdown.ts';

const pages = readPages();
const byPath = new Map(pages.map((page) => [page.path, page]));
const pageAt = (path: string) => byPath.get(path) ?? pageOf(path, '');

test('every command, path, link, variable and answer that a page shows is there', () => {
  expect(pages.length).toBeGreaterThan(5);
  expect(pages.flatMap(faultsOf)).toEqual([]);
});

test('the contents name every page', () => {
  const contents = pageAt('docs/README.md').text;
  const unnamed = pages
    .map(({ path }) => path)
    .filter((path) => path.startsWith('docs/') && path !== 'docs/README.md')
    .filter((path) => !contents.includes(`](${path.slice('docs/'.length)})`));
  expect(unnamed).toEqual([]);
});

test('the page of statements names every file that holds SQL', () => {
  const { text } = pageAt('docs/statements.md');
  const files = readSources(ROOT)
    .map(({ path }) => path)
    .filter((path) => /^src\/(?!custom\/).*\.sql\.ts$/.test(path));
  expect(files.filter((path) => !text.includes(`](../${path})`))).toEqual([]);
});

test('the page of a folder is one screen', () => {
  const folders = pages.filter(({ path }) => /^(src|local|tools|test)\/.*README\.md$/.test(path));
  expect(folders.map(({ path }) => path)).toEqual([
    'local/README.md',
    'src/README.md',
    'src/custom/README.md',
    'src/gateway/README.md',
    'src/reconciliation/README.md',
    'test/README.md',
    'tools/README.md',
  ]);
  for (const { path, text } of folders) expect([path, text.split('\n').length <= 41]).toEqual([path, true]);
});

test('the runbook has a heading for every class of reconciliation and for every alert', () => {
  const anchors = anchorsOf(pageAt('docs/runbook.md'));
  const rules = readFileSync(`${ROOT}/docs/observability/alerts.yml`, 'utf8');
  const alerts = [...rules.matchAll(/docs\/runbook\.md#(\S+)/g)].map(([, anchor = '']) => anchor);
  expect(alerts.length).toBeGreaterThan(10);
  expect([...Object.keys(CLASSES), ...alerts].filter((name) => !anchors.has(name))).toEqual([]);
});

test('the runbook tells of every alert of the program, under the heading that the alert names', () => {
  const runbook = pageAt('docs/runbook.md');
  const anchors = anchorsOf(runbook);
  for (const [event, { todo }] of Object.entries(ALERT_KINDS)) {
    const anchor = /docs\/runbook\.md#(\S+)$/.exec(todo)?.[1] ?? '';
    expect([event, anchors.has(anchor)]).toEqual([event, true]);
    expect([event, runbook.text.includes(`\`${event}\``)]).toEqual([event, true]);
    expect([event, runbook.text.includes(`(#${anchor})`)]).toEqual([event, true]);
  }
});

test('every log line that operations tells of is one that the program writes', () => {
  const sources = readSources(ROOT)
    .map(({ code }) => code)
    .join('\n');
  const { prose } = pageAt('docs/operations.md');
  const table = /^\| message [\s\S]*?\n\n/m.exec(prose)?.[0] ?? '';
  const messages = [...table.matchAll(/^\| `([^`]+)`/gm)].map(([, message = '']) => message);
  expect(messages.length).toBeGreaterThan(5);
  expect(messages.filter((message) => !sources.includes(`'${message}'`))).toEqual([]);
});

describe('the check sees what it is there to see', () => {
  const planted: [string, string][] = [
    ['a command that does not exist', 'Type `npm run reconsile`.'],
    ['a short command that does not exist', 'Type `npm strat`.'],
    ['a command in a block', '```sh not run: it is planted\nnpm run bech\n```'],
    ['a link to nowhere', '[there](nowhere.md)'],
    ['a heading that is not there', '[there](#nowhere)\n\n# Here'],
    ['a heading of another page that is not there', '[there](../README.md#nowhere)'],
    ['a path that does not exist', 'See `src/payments/confrim.ts`.'],
    ['a variable that does not exist', 'Set `GATEWAY_KEY`.'],
    ['a shell block that nobody decided on', '```sh\necho hello\n```'],
    ['a shell block that does not say why it is not run', '```sh not run\necho hello\n```'],
    ['JSON that is none', '```json\n{"a": 1,}\n```'],
    ['an answer that we do not give', '```json schema=Order\n{"orderId": "a", "status": "done"}\n```'],
    ['a schema that does not exist', '```json schema=Basket\n{}\n```'],
  ];

  test.each(planted)('%s', (_name, text) => {
    expect(faultsOf(pageOf('docs/planted.md', text))).not.toEqual([]);
  });

  test('and nothing in a page without faults', () => {
    const text =
      '# Here\n\n[there](#here), `npm run explain`, `src/app.ts`, `PORT`\n\n```sh run\necho 1\n```\n';
    expect(faultsOf(pageOf('docs/planted.md', text))).toEqual([]);
  });
});
