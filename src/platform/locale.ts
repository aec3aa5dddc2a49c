/** The locale for numbers and dates when the reader's is unknown: the language of the pages. */
export const DEFAULT_LOCALE = 'en';

/** Of a list sent by a client, only so many entries are read. */
const MAX_TAGS = 10;

/** The first of {@link localesOf}, or English. */
export function localeOf(acceptLanguage: string | undefined): string {
  return localesOf(acceptLanguage)[0] ?? DEFAULT_LOCALE;
}

/**
 * The languages of an `Accept-Language` header in which this program can write numbers, the most wanted
 * first. Digits stay those of the pages, as the words do: "١٬٢٥٠" between English sentences helps no reader.
 */
export function localesOf(acceptLanguage: string | undefined): string[] {
  return (acceptLanguage ?? '')
    .split(',', MAX_TAGS)
    .map((part) => {
      const [tag = '', ...params] = part.split(';').map((text) => text.trim());
      const [, q] = /^q=(\d(?:\.\d{1,3})?)$/i.exec(params[0] ?? '') ?? [];
      return { tag, quality: q === undefined ? 1 : Number(q) };
    })
    .filter(({ quality }) => quality > 0)
    .sort((a, b) => b.quality - a.quality)
    .flatMap(({ tag }) => numberLocale(tag) ?? []);
}

/** The pages are in British English, and so are their dates unless the reader asks for others. */
const PLAIN_DATES = 'en-GB';

/**
 * A moment in UTC in the reader's format, with the month in words: 11/12 is two days. `lang` is the
 * language of those words, which need not be that of the page around them.
 */
export function displayMoment(at: Date, locale: string): { text: string; lang: string } {
  const wanted = new Intl.Locale(locale).baseName === DEFAULT_LOCALE ? PLAIN_DATES : locale;
  const format = new Intl.DateTimeFormat([wanted, PLAIN_DATES], {
    dateStyle: 'long',
    timeStyle: 'short',
    timeZone: 'UTC',
    // Gregorian years, as the sender of the money writes them.
    calendar: 'gregory',
  });
  return { text: format.format(at), lang: new Intl.Locale(format.resolvedOptions().locale).baseName };
}

function numberLocale(tag: string): string | null {
  // Language, script and region only; an extension could select other digits.
  if (!/^[a-z]{2,3}(-[a-z0-9]{2,8}){0,3}$/i.test(tag)) return null;
  try {
    const [known] = Intl.NumberFormat.supportedLocalesOf([tag]);
    return known === undefined ? null : new Intl.Locale(known, { numberingSystem: 'latn' }).toString();
  } catch {
    return null;
  }
}

/** A length of time in its largest fitting unit. */
export function span(sec: number): string {
  const units: [number, string][] = [
    [86_400, 'd'],
    [3_600, 'h'],
    [60, 'min'],
  ];
  const [size, unit] = units.find(([length]) => sec >= length) ?? [1, 's'];
  return `${Math.floor(sec / size)} ${unit}`;
}
