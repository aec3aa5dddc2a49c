import type { Request, Response } from 'express';
import { createContext, type VNode } from 'preact';
import { useContext } from 'preact/hooks';
import { cookieIn, cookieLine } from '../platform/request.ts';
import { InLocale } from '../platform/html.tsx';
import { localesOf } from '../platform/locale.ts';
import { EN, type Words } from './words/en.ts';
import { FR } from './words/fr.ts';

/** The languages of the shopper's pages; the first is the one for readers of none of them. */
export const LANGUAGES = { en: EN, fr: FR } satisfies Record<string, Words>;
export type Language = keyof typeof LANGUAGES;

/** Who reads a page: in which words, and how amounts and dates are written. */
type Reader = { language: Language; words: Words; locale: string };

const NAME = '__Host-language';
const REMEMBERED_SEC = 180 * 24 * 3600;

/** Who asks for a page: what they chose on one (`?lang=`), else what their browser wants. */
export function readerOf(req: Request): Reader {
  const wanted = localesOf(req.get('accept-language'));
  const chosen = languageIn(req.query.lang) ?? languageIn(cookieIn(req.get('cookie'), NAME));
  const language = chosen ?? wanted.map(languageOf).find((known) => known !== null) ?? 'en';
  // Who has chosen nothing keeps the numbers of the own language, even where its words are missing.
  const locale = chosen === null ? wanted[0] : wanted.find((tag) => languageOf(tag) === language);
  return { language, words: LANGUAGES[language], locale: locale ?? language };
}

/** Lets the browser remember a language that was chosen with this request. */
export function rememberLanguage(req: Request, res: Response): void {
  const value = languageIn(req.query.lang);
  if (value === null) return;
  res.append('set-cookie', cookieLine({ name: NAME, value, maxAgeSec: REMEMBERED_SEC, sameSite: 'Lax' }));
}

function languageOf(tag: string): Language | null {
  return languageIn(new Intl.Locale(tag).language);
}

function languageIn(text: unknown): Language | null {
  return typeof text === 'string' && Object.hasOwn(LANGUAGES, text) ? (text as Language) : null;
}

const ReaderContext = createContext<Pick<Reader, 'language' | 'words'>>({ language: 'en', words: EN });

/** For components: in which language the page is. */
export function useReader(): Pick<Reader, 'language' | 'words'> {
  return useContext(ReaderContext);
}

/** A page in its reader's language. */
export function pageFor<Props extends object>(
  reader: Reader,
  ReadPage: (props: Props) => VNode,
  props: Props,
): VNode {
  return (
    <ReaderContext.Provider value={reader}>
      <InLocale locale={reader.locale}>
        <ReadPage {...props} />
      </InLocale>
    </ReaderContext.Provider>
  );
}

/** Of a heading: "Nigerian Naira". */
export function currencyName(currency: string, language: string): string {
  const name = new Intl.DisplayNames(language, { type: 'currency' }).of(currency) ?? currency;
  return name.slice(0, 1).toLocaleUpperCase(language) + name.slice(1);
}

/** Of a sentence: "Nigerian nairas". */
export function currencyNames(currency: string, language: string): string {
  const format = new Intl.NumberFormat(language, { style: 'currency', currency, currencyDisplay: 'name' });
  return format.formatToParts(2).find(({ type }) => type === 'currency')?.value ?? currency;
}
