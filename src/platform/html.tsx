import type { Response } from 'express';
import { createContext, type ComponentChildren, type VNode } from 'preact';
import { useContext } from 'preact/hooks';
import { renderToString } from 'preact-render-to-string';
import { DEFAULT_LOCALE, displayMoment, localeOf } from './locale.ts';
import { displayMajor, displayNumber, formatMajor, minorDigits, type Money } from './money.ts';

type PageProps = {
  title: ComponentChildren;
  /** Of its words. Left out: English. */
  lang?: string;
  /** Address of the style sheet. Pages carry no inline style: the content policy forbids it. */
  stylesheet: string;
  /** Loaded after `stylesheet`. */
  ownStylesheet?: string;
  /** Address of a module script, for what a page does beyond plain HTML. Every page works without it. */
  script?: string;
  /** Seconds after which a browser without script loads the page again. */
  refreshSec?: number;
  children: ComponentChildren;
};

/** The document around every page: language, viewport, colour scheme, style sheet. */
export function Page({ title, lang = DEFAULT_LOCALE, ...parts }: PageProps): VNode {
  const { stylesheet, ownStylesheet, script, refreshSec, children } = parts;
  return (
    <html lang={lang}>
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        {refreshSec !== undefined && (
          <noscript>
            <meta http-equiv="refresh" content={String(refreshSec)} />
          </noscript>
        )}
        <title>{title}</title>
        <link rel="icon" href="data:," />
        <link rel="stylesheet" href={stylesheet} />
        {ownStylesheet !== undefined && <link rel="stylesheet" href={ownStylesheet} />}
        {script !== undefined && <script type="module" src={script} />}
      </head>
      <body>{children}</body>
    </html>
  );
}

const ReaderLocale = createContext(DEFAULT_LOCALE);

/** A page, or a part of one, for a reader of this locale, whatever the browser asked for. */
export function InLocale({ locale, children }: { locale: string; children: ComponentChildren }): VNode {
  return <ReaderLocale.Provider value={locale}>{children}</ReaderLocale.Provider>;
}

/** The locale in which the reader wants numbers and dates. For components: it is set during rendering. */
export function useLocale(): string {
  return useContext(ReaderLocale);
}

/** Money as the reader writes it. A currency that ISO 4217 does not know is shown in minor units. */
export function Amount({ amount, currency }: Money): VNode {
  if (minorDigits(currency) === null) return <>{`${currency} ${amount} minor units`}</>;
  return <MajorAmount text={formatMajor({ amount, currency })} currency={currency} />;
}

/** The same for an amount that is a decimal text already. */
export function MajorAmount({ text, currency }: { text: string; currency: string }): VNode {
  return <>{displayMajor(text, currency, useLocale())}</>;
}

/** The same where the currency is shown elsewhere. */
export function MajorNumber({ text }: { text: string }): VNode {
  return <>{displayNumber(text, useLocale())}</>;
}

/** A moment as the reader writes it, in UTC, with the language of its words and in their direction. */
export function WrittenMoment({ at }: { at: Date }): VNode {
  const { text, lang } = displayMoment(at, useLocale());
  return (
    <>
      <time dateTime={at.toISOString()} lang={lang} dir="auto">
        {text}
      </time>{' '}
      UTC
    </>
  );
}

/** Answers with a page. The renderer escapes text from outside; nothing here takes markup as a string. */
export function sendPage(res: Response, page: VNode, status = 200): void {
  const locale = localeOf(res.req.get('accept-language'));
  res
    .status(status)
    .set('cache-control', 'no-store')
    .vary('accept-language')
    .type('html')
    .send(htmlOf(page, locale));
}

/** A page as a text, for an answer or a file. */
export function htmlOf(page: VNode, locale = DEFAULT_LOCALE): string {
  return `<!doctype html>${renderToString(<ReaderLocale.Provider value={locale}>{page}</ReaderLocale.Provider>)}`;
}
