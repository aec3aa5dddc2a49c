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
 * A submitted form that changed nothing: the typed values, the faults by field, and the reason of a
 * refusal.
 */
export type Typed = { values: URLSearchParams; faults: Record<string, string>; error: string | null };

/**
 * The state that all requests share.
 * @param ownOrigin our origin, as browsers reach it
 * @param shop the shop's name
 */
export function openConsole(parts: ConsoleParts, ownOrigin: () => string, shop: string) {
  const sessions = createSessions(parts.config);
  return { parts, sessions, shop, ownOrigin, books: createBooks(parts.prisma, parts.policy.mode) };
}
export type Console = ReturnType<typeof openConsole>;

/** The context of one request: the person, and everything that pages need. */
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
    shop,
    view: { now: new Date(), timeZone: config.SHOP_TIME_ZONE },
    /** The requested address with its query. Forms are sent to it. */
    address: req.originalUrl,
    query: new URL(req.originalUrl, ownOrigin()).searchParams,
    id: String(req.params.id ?? ''),
    /** The number of open cases. */
    todo: await prisma.case.count({ where: { mode: policy.mode, closedAt: null } }),
    /** The confirmation of the action just done. */
    told: cookieOf(req, 'told'),
    typed: null as Typed | null,
  };
}
export type Here = Awaited<ReturnType<typeof hereOf>>;

/**
 * A page with its title and body, a whole document, or an address to redirect to. null: not found.
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

/** The form field that proves that one of our pages sent the form. */
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

/** A whole page: the navigation, the result of the last action, and the body. */
export function framed(here: Here, title: string, body: Kids): string {
  const { told, todo, typed, shop } = here;
  const next = `Next: ${todo === 0 ? 'nothing to do' : `${counted(todo, 'thing')} to do`}.`;
  const fault = typed?.error ?? (Object.keys(typed?.faults ?? {}).length > 0 ? 'look at the marked field.' : '');
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

/** A page for a visitor who is not logged in. */
export const bare = (shop: string, title: string, body: Kids): string =>
  asDocument(`${title} · ${shop}`, <main class="narrow">{[<h1>{title}</h1>, body]}</main>);

/**
 * The log-in page.
 * @param asksName whether to ask for a name, because several people may share a key
 */
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
