import type { Response } from 'express';
import type { ComponentChildren, VNode } from 'preact';
import { renderToString } from 'preact-render-to-string';

export type PageProps = {
  title: string;
  /** Address of the one style sheet. Pages carry no inline style: the content policy forbids it. */
  stylesheet: string;
  /** Address of a module script, for what a page does beyond plain HTML. Every page works without it. */
  script?: string;
  /** Seconds after which a browser without script loads the page again. */
  refreshSec?: number;
  children: ComponentChildren;
};

/** The document around every page: language, viewport, colour scheme, style sheet. */
export function Page({ title, stylesheet, script, refreshSec, children }: PageProps): VNode {
  return (
    <html lang="en">
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
        {script !== undefined && <script type="module" src={script} />}
      </head>
      <body>{children}</body>
    </html>
  );
}

/** Answers with a page. Text from outside is escaped by the renderer; nothing here takes markup as a string. */
export function sendPage(res: Response, page: VNode, status = 200): void {
  res
    .status(status)
    .set('cache-control', 'no-store')
    .type('html')
    .send('<!doctype html>' + renderToString(page));
}
