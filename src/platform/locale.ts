/** How numbers and dates are written for somebody of whom nothing is known: in the language of the pages. */
export const DEFAULT_LOCALE = 'en';

/** Of a list that somebody made up, no more is looked at. */
const MAX_TAGS = 10;

/**
 * The first language of an `Accept-Language` header in which this program can write numbers, the most wanted first.
 * Digits stay those of the pages, whose words do: "١٬٢٥٠" between English sentences helps nobody.
 */
export function localeOf(acceptLanguage: string | undefined): string {
  const wanted = (acceptLanguage ?? '')
    .split(',', MAX_TAGS)
    .map((part) => {
      const [tag = '', ...params] = part.split(';').map((text) => text.trim());
      const [, q] = /^q=(\d(?:\.\d{1,3})?)$/i.exec(params[0] ?? '') ?? [];
      return { tag, quality: q === undefined ? 1 : Number(q) };
    })
    .filter(({ quality }) => quality > 0)
    .sort((a, b) => b.quality - a.quality);
  for (const { tag } of wanted) {
    const locale = numberLocale(tag);
    if (locale !== null) return locale;
  }
  return DEFAULT_LOCALE;
}

/** The pages are in British English, and so are their dates where nobody asks for others. */
const PLAIN_DATES = 'en-GB';

/**
 * A moment in UTC as the reader writes one, with its month in words: 11/12 is two days. `lang` is the language of those
 * words, which need not be that of the page around them.
 */
export function displayMoment(at: Date, locale: string): { text: string; lang: string } {
  const wanted = new Intl.Locale(locale).baseName === DEFAULT_LOCALE ? PLAIN_DATES : locale;
  const format = new Intl.DateTimeFormat([wanted, PLAIN_DATES], {
    dateStyle: 'long',
    timeStyle: 'short',
    timeZone: 'UTC',
    // The year of whoever sent the money.
    calendar: 'gregory',
  });
  return { text: format.format(at), lang: new Intl.Locale(format.resolvedOptions().locale).baseName };
}

function numberLocale(tag: string): string | null {
  // Language, script and region; an extension could ask for digits of its own.
  if (!/^[a-z]{2,3}(-[a-z0-9]{2,8}){0,3}$/i.test(tag)) return null;
  try {
    const [known] = Intl.NumberFormat.supportedLocalesOf([tag]);
    return known === undefined ? null : new Intl.Locale(known, { numberingSystem: 'latn' }).toString();
  } catch {
    return null;
  }
}
