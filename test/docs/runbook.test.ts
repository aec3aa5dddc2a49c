import { expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { ACTIONS } from '../../src/commands/commands.ts';
import rows from '../../src/commands/words.json' with { type: 'json' };
import texts from '../../src/custom/words.json' with { type: 'json' };
import { OrderStatus, PaymentStatus } from '../../src/platform/prisma/enums.ts';

// docs/order-life.md, docs/reconciliation.md and docs/security.md must match the code.

const read = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
const found = (text: string, pattern: RegExp): string[] => [...text.matchAll(pattern)].map(([, one = '']) => one);

/** The entries of the runbook by heading. A quotation is joined into one line. */
const runbook = read('docs/reconciliation.md').split('## The runbook\n')[1] ?? '';
const entries = new Map(
  runbook.split(/^### /m).map((entry) => {
    const [heading = '', ...lines] = entry.split('\n');
    return [heading, lines.join(' ').replace(/ > /g, ' ').replace(/\s+/g, ' ')];
  }),
);

test('the runbook has exactly one heading for each case class and for each other line of the work list', () => {
  const type = /export type CaseClass =([^;]*);/.exec(read('src/cases/classes.ts'))?.[1] ?? '';
  const classes = found(type, /'(\w+)'/g);
  expect(classes).toHaveLength(16);
  const headings = found(runbook, /^### (.*)$/gm);
  expect(headings.sort()).toEqual([...classes, ...Object.keys(rows.rows), 'balance'].sort());
});

// An explained case has nothing left to do.
const toDo = Object.entries({ ...texts.cases, ...rows.rows }).filter(([name]) => !name.endsWith(', explained'));

test.each(toDo)('the runbook quotes the exact words for %s', (name, { sentence, next }) => {
  expect(entries.get(name.split(',')[0] ?? '')).toContain(`${sentence} ${next}`);
});

test('the diagrams of an order’s life name exactly the existing states', () => {
  const diagrams = found(read('docs/order-life.md'), /```mermaid\n([^`]*)```/g);
  const states = diagrams.map((one) => new Set(found(one, /\b([a-z_]+)(?= -->|:)/g)));
  expect(states).toEqual([new Set(Object.values(OrderStatus)), new Set(Object.values(PaymentStatus))]);
});

test('the table of roles lists each command beside the lowest role that may run it', () => {
  const table = found(read('docs/security.md'), /^(\| `(?:viewer|clerk|operator)`.*)$/gm);
  const told = table.flatMap((row) => {
    const [role, ...names] = found(row, /`([^`]+)`/g);
    return names.map((name) => `${role ?? ''}: ${name}`);
  });
  expect(told.sort()).toEqual(ACTIONS.map(({ role, name }) => `${role}: ${name}`).sort());
});

test.each(['order-life', 'reconciliation', 'security'])('every file that %s.md names exists', (page) => {
  const text = read(`docs/${page}.md`);
  for (const path of found(text, /`((?:src|test|docs|prisma|local|tools)\/[\w./-]+\.\w+)`/g))
    expect(read(path)).not.toBe('');
  for (const link of found(text, /\]\(([\w./-]+\.md)/g)) expect(read(`docs/${link}`)).not.toBe('');
});
