/** What a page shows of an answer, held against what came. @returns what is wrong, or null */
export function outputFault(language: string, shown: string, came: string): string | null {
  return language === 'json' ? jsonFault(shown, came) : textFault(shown, came);
}

/** Each line that is shown came, in that order; `…` stands for anything, and how wide a gap is does not matter. */
function textFault(shown: string, came: string): string | null {
  const lines = shown.split('\n').filter((line) => line.trim() !== '' && line.trim() !== '…');
  let rest = folded(came);
  for (const line of lines) {
    const pattern = folded(line)
      .split(/ ?… ?/)
      .map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
      .join('.*?');
    const match = new RegExp(pattern, 'm').exec(rest);
    if (match === null) return `the line "${line.trim()}" did not come`;
    rest = rest.slice(match.index + match[0].length);
  }
  return null;
}

function folded(text: string): string {
  return text.replace(/[ \t─-]+/g, ' ').replace(/ $/gm, '');
}

/** The same keys with values of the same kinds, all the way down: ids and times differ at every run. */
function jsonFault(shown: string, came: string): string | null {
  let value: unknown;
  try {
    value = JSON.parse(came);
  } catch {
    return `what came is not JSON: ${came.slice(0, 500)}`;
  }
  const [wanted, got] = [shapeOf(JSON.parse(shown)), shapeOf(value)];
  return wanted === got ? null : `the page shows ${wanted}\n  what came is ${got}`;
}

function shapeOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return `[${[...new Set(value.map(shapeOf))].sort().join()}]`;
  if (typeof value !== 'object') return typeof value;
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${entries.map(([key, item]) => `${key}:${shapeOf(item)}`).join()}}`;
}
