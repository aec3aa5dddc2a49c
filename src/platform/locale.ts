/** How numbers are written for somebody of whom nothing is known: in the language of the pages. */
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
