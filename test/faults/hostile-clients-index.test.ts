import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';

// The list of attacks by hostile clients, and where each is played. A new one does not compile until it stands here.

const IDS = [
  'H1', 'H2', 'H3', 'H4', 'H5', 'H6', 'H7', 'H8', 'H9', 'H10', 'H11', 'H12', 'H13', 'H14', 'H15',
  'H16', 'H17', 'H18', 'H19', 'H20', 'H21', 'H22', 'H23', 'H24', 'H25', 'H26', 'H27', 'H28', 'H29', 'H30',
] as const; // prettier-ignore
type Id = (typeof IDS)[number];

/** The beginning of the scenario's name in a file beside this one, or why there is none. */
type Where =
  { file: 'input' | 'addresses' | 'sockets' | 'pages' | 'limits'; name: string } | { none: string };

const WHERE: Record<Id, Where> = {
  H1: { file: 'input', name: 'H1 prices and quantities' },
  H2: { file: 'input', name: 'H2 Idempotency-Key' },
  H3: { file: 'input', name: 'H3 many at once' },
  H4: { file: 'input', name: 'H4 SQL' },
  H5: { file: 'input', name: 'H5 prototype pollution' },
  H6: { file: 'input', name: 'H6 a parameter that comes twice' },
  H7: { file: 'addresses', name: 'H7 a redirect to somewhere else' },
  H8: { file: 'addresses', name: 'H8 an address that we are to fetch' },
  H9: { file: 'input', name: 'H9 line breaks for headers' },
  H10: { file: 'addresses', name: 'H10 path traversal in every route parameter' },
  H11: { file: 'addresses', name: 'H11 looking for orders of others' },
  H12: { file: 'addresses', name: 'H12 the return page of somebody else' },
  H13: { file: 'limits', name: 'H13 a return page that is hammered' },
  H14: { file: 'input', name: 'H14 too much' },
  H15: { file: 'sockets', name: 'H15 slow and idle clients' },
  H16: { file: 'input', name: 'H16 the reader of' },
  H17: { file: 'pages', name: 'H17, H18 pages with' },
  H18: { file: 'pages', name: 'H17, H18 pages with' },
  H19: {
    none: 'the check of Origin on checkouts comes with its own commit; nothing else changes state by a form',
  },
  H20: { file: 'pages', name: 'H20 pages of the operator' },
  H21: { file: 'input', name: 'H21 each log line' },
  H22: { file: 'input', name: 'H22 formulas' },
  H23: { file: 'sockets', name: 'H23 what is no request' },
  H24: { file: 'sockets', name: 'H24 requests that two readers' },
  H25: { file: 'addresses', name: 'H25 X-Forwarded-For' },
  H26: { file: 'addresses', name: 'H26 the admin area without the right' },
  H27: { file: 'limits', name: 'H27 one e-mail address' },
  H28: { file: 'limits', name: 'H28 many attempts' },
  H29: { file: 'addresses', name: 'H29 files that are not for browsers' },
  H30: { file: 'sockets', name: 'H30 doors of the workshop' },
};

test.each(IDS)('%s is played, or there is a reason why not', (id) => {
  const where = WHERE[id];
  if ('none' in where) {
    expect(where.none).toMatch(/\w+ \w+/);
    return;
  }
  const text = readFileSync(new URL(`hostile-clients-${where.file}.test.ts`, import.meta.url), 'utf8');
  const begins = ["'", '`'].map((quote) => `${quote}${where.name}`);
  expect(begins.some((beginning) => text.includes(beginning))).toBe(true);
});

test('whoever writes CSV does so with the one writer, which H22 attacks', () => {
  const src = new URL('../../src/', import.meta.url);
  const files = readdirSync(src, { recursive: true, encoding: 'utf8' }).filter((name) =>
    /\.tsx?$/.test(name),
  );
  const others = files.filter((name) => {
    const text = readFileSync(new URL(name, src), 'utf8');
    return (
      /text\/csv|\bfunction \w*csv/i.test(text) &&
      !text.includes('platform/csv.ts') &&
      name !== 'platform/csv.ts'
    );
  });
  expect(others).toEqual([]);
});
