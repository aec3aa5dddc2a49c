import type { DestinationStream } from 'pino';

/** Where text for a person goes: standard output or standard error, which may be a terminal. */
export type Screen = { isTTY?: boolean; hasColors?(count: number): boolean; write(text: string): unknown };

const CODES = { red: 31, green: 32, yellow: 33, grey: 90 } as const;
export type Colour = keyof typeof CODES;

/** The widest line that a command prints, so that it fits a terminal of the usual width. */
export const WIDTH = 80;

/** The text in a colour, where the screen shows colours: not in a file, and not where NO_COLOR is set. */
export function coloured(screen: Screen, colour: Colour, text: string): string {
  // Node.js reads NO_COLOR and TERM in here.
  const isShown = screen.isTTY === true && screen.hasColors?.(16) === true;
  return isShown ? `\u001b[${CODES[colour]}m${text}\u001b[0m` : text;
}

/**
 * Where the log goes: on a terminal outside production as lines for a person, everywhere else as the JSON
 * that programs read.
 */
export function logOn(screen: Screen, isProduction: boolean): DestinationStream {
  if (screen.isTTY !== true || isProduction) return screen;
  return { write: (line) => screen.write(readable(line, screen)) };
}

const LEVELS: Record<number, [name: string, colour: Colour]> = {
  10: ['trace', 'grey'],
  20: ['debug', 'grey'],
  30: ['info', 'green'],
  40: ['warn', 'yellow'],
  50: ['error', 'red'],
  60: ['fatal', 'red'],
};

type Entry = Record<string, unknown> & { level: number; time: string; msg?: string };
type Failure = { message: string; stack?: string; cause?: Failure };

/**
 * `08:31:02 warn  check postponed  reference=t27p… retryInSec=4`, and below it what an error says of itself.
 */
function readable(line: string, screen: Screen): string {
  const { level, time, msg = '', err, ...fields } = JSON.parse(line) as Entry & { err?: Failure };
  const [name, colour] = LEVELS[level] ?? [String(level), 'grey'];
  const about = Object.entries(fields).map(([key, value]) => `${key}=${textOf(value)}`);
  const head = [time.slice(11, 19), coloured(screen, colour, name.padEnd(5)), msg].join(' ');
  const rest = about.length === 0 ? '' : `  ${coloured(screen, 'grey', about.join(' '))}`;
  return `${head}${rest}\n${causesOf(err)}`;
}

function causesOf(error: Failure | undefined): string {
  if (error === undefined) return '';
  const text = visible(error.stack ?? error.message, true).replaceAll('\n', '\n  ');
  return `  ${text}\n${causesOf(error.cause)}`;
}

function textOf(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return /^[^\s"=]+$/.test(text) ? visible(text) : visible(JSON.stringify(value));
}

/** Text from outside must not control the terminal or fake a line. */
export function visible(text: string, mayBreak = false): string {
  return text.replace(/\p{C}/gu, (mark) => (mayBreak && mark === '\n' ? mark : '\ufffd'));
}

/** The text in lines of at most 80 columns; all but the first begin with so many spaces. */
export function wrapped(text: string, indent: number, width = WIDTH): string {
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const line = lines.at(-1);
    if (line !== undefined && line.length + 1 + word.length <= width)
      lines[lines.length - 1] = `${line} ${word}`;
    else lines.push(line === undefined ? word : ' '.repeat(indent) + word);
  }
  return lines.join('\n');
}

/** Enough of an id or a reference to recognise it; the commands take it for the whole. */
export function shortId(id: string): string {
  return id.replace(/^((?:rel|evt)_)?(.{8}).+$/, '$1$2');
}

const MAX_SHOWN = 16_384;
/** The part before the "@", also where that sign is escaped (JSON, percent-encoding). */
const LOCAL_PART = /[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]{1,254}(?=@|\\u0040|%40)/gi;

/**
 * Bytes from outside as text to display: at most 16 KiB; what is not text becomes a replacement character, so
 * nothing can reverse the text direction; of an e-mail address only the domain is shown, unless `isWhole`.
 * The row keeps every byte.
 */
export function foreignText(bytes: Buffer, isWhole = false): string {
  const text = bytes
    .subarray(0, MAX_SHOWN)
    .toString('utf8')
    .replace(/[^\P{C}\n\t]/gu, '\ufffd')
    .replace(LOCAL_PART, (part) => (isWhole ? part : '•••'));
  return bytes.length > MAX_SHOWN ? `${text}\n… and ${bytes.length - MAX_SHOWN} bytes more` : text;
}

/** A row of a list, and what stands below it. */
export type ListRow = { cells: readonly string[]; below: readonly string[] };

const GAP = '  ';

/** Aligned columns of text for a terminal, with a rule under the headings. */
export function formatTable(headings: readonly string[], rows: readonly (readonly string[])[]): string {
  const { head, line } = columnsOf(headings, rows, Infinity);
  return [...head, ...rows.map(line)].join('\n');
}

/** The same with sentences below each row, and never wider than a terminal: the widest column is cut. */
export function formatList(headings: readonly string[], rows: readonly ListRow[]): string {
  const cells = rows.map((row) => row.cells);
  const { head, line, widths } = columnsOf(headings, cells, WIDTH);
  const margin = ' '.repeat(Math.min((widths[0] ?? 0) + GAP.length, 4));
  const below = (text: string): string => wrapped(`${margin}${text}`, margin.length + 2);
  const blocks = rows.map((row) => [line(row.cells), ...row.below.map(below)].join('\n'));
  return [...head, ...blocks].join('\n');
}

function columnsOf(headings: readonly string[], rows: readonly (readonly string[])[], most: number) {
  const widths = headings.map((heading, at) =>
    Math.max(heading.length, ...rows.map((row) => row[at]?.length ?? 0)),
  );
  const total = widths.reduce((sum, width) => sum + width + GAP.length, -GAP.length);
  const widest = widths.indexOf(Math.max(...widths));
  if (total > most) widths[widest] = Math.max(8, (widths[widest] ?? 0) - (total - most));
  const cell = (text: string, at: number): string => {
    const width = widths[at] ?? 0;
    return text.length > width ? `${text.slice(0, width - 1)}…` : text.padEnd(width);
  };
  const line = (cells: readonly string[]): string => cells.map(cell).join(GAP).trimEnd();
  return { head: [line(headings), line(widths.map((width) => '-'.repeat(width)))], line, widths };
}

/** An error that a person can mend from the message alone: a stack trace would only hide it. */
export class UserFacingError extends Error {}
