import type { Request } from 'express';
import type { ComponentChildren as Kids, VNode } from 'preact';
import { renderToString } from 'preact-render-to-string';
import type { CommandParts } from '../commands/registry.ts';
import { Problem } from '../platform/problem.ts';
import { createBooks } from './money.tsx';
import { card, counted, line, link, notice, quiet, tabs, type Tab } from './parts.tsx';
import { cookieOf, createSessions, type Who } from './session.ts';
import words from './words.json' with { type: 'json' };

export type ConsoleParts = Omit<CommandParts, 'by'>;

/**
 * A form that was sent and not done: what was typed, what is wrong with it by field, or why nothing
 * was done.
 */
export type Typed = { values: URLSearchParams; faults: Record<string, string>; error: string | null };

/** What a console has. @param ownOrigin as browsers reach us */
export function openConsole(parts: ConsoleParts, ownOrigin: () => string) {
  const sessions = createSessions(parts.config);
  const shop = (): string => new URL(ownOrigin()).hostname;
  return { parts, sessions, shop, ownOrigin, books: createBooks(parts.prisma, parts.policy.mode) };
}
export type Console = ReturnType<typeof openConsole>;

/** Of one request: who asks for which page, and all that pages work with. */
export async function hereOf({ parts, sessions, shop, ownOrigin, books }: Console, req: Request) {
  const who = sessions.whoIs(req);
  if (who === null) throw new Problem('unauthorized');
  const { prisma, policy, config } = parts;
  return {
    parts: { ...parts, by: who.name },
    prisma,
    mode: policy.mode,
    who,
    books,
    shop: shop(),
    view: { now: new Date(), timeZone: config.SHOP_TIME_ZONE },
    /** As it was asked for, with its query: forms are sent there. */
    address: req.originalUrl,
    query: new URL(req.originalUrl, ownOrigin()).searchParams,
    id: String(req.params.id ?? ''),
    /** Open cases. */
    todo: await prisma.case.count({ where: { mode: policy.mode, closedAt: null } }),
    /** What was just done. */
    told: cookieOf(req, 'told'),
    typed: null as Typed | null,
  };
}
export type Here = Awaited<ReturnType<typeof hereOf>>;

/**
 * A page: its title and what stands below it; a whole document; or where to go instead. null: there
 * is none.
 */
export type Drawn = { title: string; body: Kids } | { html: string } | { to: string } | null;

const asDocument = (title: string, kids: Kids): string =>
  `<!doctype html>${renderToString(
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>{title}</title>
        <link rel="icon" href="data:," />
        <link rel="stylesheet" href="/style.css" />
      </head>
      <body>{kids}</body>
    </html>,
  )}`;

/** In a form: that one of our pages sent it. */
export const formToken = ({ formToken: value }: Who): VNode => <input type="hidden" name="form" value={value} />;

function header({ shop, mode, query, address, todo }: Here): VNode {
  const path = address.split('?')[0] ?? '';
  const pages = Object.entries(words.pages).map(([href, name]): Tab => {
    const more = href === '/admin/cases' && todo > 0 ? ` (${todo})` : '';
    return [name + more, href, href === '/admin' ? path === href : path.startsWith(href)];
  });
  return (
    <header>
      {link('#main', 'Skip to the page')}
      <strong>{shop}</strong>
      {mode === 'test' && <b class="badge">test money</b>}
      <form action="/admin/find" role="search">
        <input name="q" type="search" required value={query.get('q') ?? ''} {...words.search} />
        <button class="plain">Find</button>
      </form>
      {tabs('Pages', pages)}
    </header>
  );
}

function footer({ who, view }: Here): VNode {
  const logOut = (
    <form method="post" action="/admin/logout">
      {formToken(who)}
      <button class="plain">Log out</button>
    </form>
  );
  return (
    <footer>
      <small>{`${who.name}, ${who.role}`}</small>
      {who.session !== null && logOut}
      <small>{`Times in ${view.timeZone.replaceAll('_', ' ')}`}</small>
    </footer>
  );
}

/** A whole page: where one is, what was just done or not done, and what is next. */
export function framed(here: Here, title: string, body: Kids): string {
  const { told, todo, typed, shop } = here;
  const next = `Next: ${todo === 0 ? 'nothing to do' : `${counted(todo, 'thing')} to do`}.`;
  const fault = typed?.error ?? (Object.keys(typed?.faults ?? {}).length > 0 ? 'something is missing below.' : '');
  const main = (
    <main id="main">
      {told !== '' && <div role="status">{notice('good', told, '', line(link('/admin/cases', next)))}</div>}
      {fault !== '' && <div role="alert">{notice('bad', `Nothing was done: ${fault}`)}</div>}
      <h1>{title}</h1>
      {body}
    </main>
  );
  return asDocument(`${title} · ${shop}`, [header(here), main, footer(here)]);
}

/** A page for somebody who is not logged in. */
export const bare = (shop: string, title: string, body: Kids): string =>
  asDocument(`${title} · ${shop}`, <main class="narrow">{[<h1>{title}</h1>, body]}</main>);

/** *Who are you?* @param asksName where several people may share a key */
export function loginPage(shop: string, mode: string, asksName: boolean, to: string, fault: string | null): string {
  const form = (
    <form method="post" action="/admin/login">
      {fault !== null && <div role="alert">{notice('bad', fault)}</div>}
      <input type="hidden" name="to" value={to} />
      <label>
        Your access key
        <input name="key" type="password" required autocomplete="current-password" />
      </label>
      {asksName && (
        <label>
          Your name (leave it empty if your key is your own)
          <input name="name" autocomplete="name" maxLength={80} />
        </label>
      )}
      <button>Log in</button>
    </form>
  );
  const badge = mode === 'test' && line(<b class="badge">test money</b>);
  return bare(shop, shop, [badge, card('Who are you?', form, quiet('You stay logged in for 12 hours.'))]);
}
