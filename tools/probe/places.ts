import { at, isRecord, numberText, stringOf, type Json } from '../../src/gateway/dialect/json-pointer.ts';

/** The pointers of every value in a document that `accept` takes, in the document's order. */
export function placesOf(document: Json, accept: (value: Json) => boolean, pointer = ''): string[] {
  const here = accept(document) ? [pointer] : [];
  const members: [string, Json][] = Array.isArray(document)
    ? document.map((value: Json, index) => [String(index), value])
    : isRecord(document)
      ? Object.entries(document)
      : [];
  return [
    ...here,
    ...members.flatMap(([key, value]) => placesOf(value, accept, `${pointer}/${escaped(key)}`)),
  ];
}

/** The pointers at which each of the documents holds what is looked for in it. */
export function commonPlaces(
  documents: readonly Json[],
  accept: (value: Json, index: number) => boolean,
): string[] {
  const [first, ...others] = documents;
  const places = placesOf(first, (value) => accept(value, 0));
  return places.filter((place) => others.every((document, index) => accept(at(document, place), index + 1)));
}

/** Whether one of the texts stands anywhere in the document. */
export function isOneOf(document: Json, texts: readonly string[]): boolean {
  return placesOf(document, (value) => typeof value === 'string' && texts.includes(value)).length > 0;
}

/** The pointer of the object around; `""` around a member of the whole. */
export function parentOf(pointer: string): string {
  return pointer.slice(0, Math.max(pointer.lastIndexOf('/'), 0));
}

/** The name of the member itself. */
export function lastKey(pointer: string): string {
  return pointer
    .slice(pointer.lastIndexOf('/') + 1)
    .replaceAll('~1', '/')
    .replaceAll('~0', '~');
}

/** How many of our payments are among the records. */
export function listedOf(rows: readonly Json[], references: readonly string[]): number {
  return references.filter((reference) => isOneOf(rows, [reference])).length;
}

/** A word as status fields have them: no digits, so neither a time nor an id. */
export function isWord(value: Json): value is string {
  return typeof value === 'string' && /^[A-Za-z][A-Za-z _/-]{0,40}$/.test(value.trim());
}

/** Whether a field says "nothing yet". */
export function isNothing(value: Json): boolean {
  return value === undefined || value === null || /^0*(\.0*)?$/.test(numberText(value) ?? 'x');
}

/** Words that stand now where another word stood. */
export function changedWords(before: Json, now: Json): string[] {
  return placesOf(now, isWord)
    .filter((place) => isWord(at(before, place)) && at(before, place) !== at(now, place))
    .map((place) => stringOf(at(now, place)) ?? '');
}

function escaped(key: string): string {
  return key.replaceAll('~', '~0').replaceAll('/', '~1');
}
