/** One element of a page: its name and its attributes, entities read back. */
export type Element = { name: string; attributes: Record<string, string> };

const TAG = /<(!doctype|[a-z][a-z0-9]*)((?:\s+[a-zA-Z-]+(?:="[^"]*")?)*)\s*\/?>/g;
const ATTRIBUTE = /([a-zA-Z-]+)(?:="([^"]*)")?/g;
const ENTITIES: Record<string, string> = {
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&#39;': "'",
  '&amp;': '&',
};

/** The elements of a page in order. Text is what is left, and holds no `<` in a page that escapes. */
export function elementsOf(html: string): Element[] {
  return [...html.matchAll(TAG)].map(([, name = '', attributes = '']) => ({
    name,
    attributes: Object.fromEntries(
      [...attributes.matchAll(ATTRIBUTE)].map(([, key = '', value = '']) => [key, unescaped(value)]),
    ),
  }));
}

/** What is neither tag nor text: a bare `<` that a browser would read its own way. */
export function strayMarkup(html: string): boolean {
  return html
    .replaceAll(TAG, '')
    .replace(/<\/[a-z][a-z0-9]*>/g, '')
    .includes('<');
}

/** The page without its words: which elements with which attributes stand where. */
export function skeletonOf(html: string): string[] {
  return elementsOf(html).map(({ name, attributes }) => [name, ...Object.keys(attributes)].join(' '));
}

function unescaped(text: string): string {
  return text.replace(/&(?:lt|gt|quot|#39|amp);/g, (entity) => ENTITIES[entity] ?? entity);
}
