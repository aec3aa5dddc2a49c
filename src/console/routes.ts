import express, { Router, type ErrorRequestHandler, type Request, type Response } from 'express';
import { fileURLToPath } from 'node:url';
import { isDatabaseAway } from '../platform/db.ts';
import { networkOf } from '../platform/addresses.ts';
import { createLimit } from '../platform/limits.ts';
import { asProblem, notFound, Problem, PROBLEMS } from '../platform/problem.ts';
import { UserFacingError } from '../platform/user-facing-error.ts';
import { doneText, findForm, readForm, surePage } from './acts.tsx';
import { bare, framed, hereOf, loginPage, openConsole, type Console, type Drawn, type Here } from './frame.tsx';
import type { ConsoleParts, Typed } from './frame.tsx';
import { activityPage, ordersPage, searchPage } from './lists.tsx';
import { bookFile, moneyPage } from './money.tsx';
import { CONFIRMED } from './confirmations.ts';
import { casePage, orderPage, proof } from './order.tsx';
import { isFromHere, isOurForm, may, SESSION_SEC, setCookie } from './session.ts';
import { checksPage, comparisonPage, todayPage, todoPage } from './today.tsx';
import words from './words.json' with { type: 'json' };

type Draw = (here: Here) => Promise<Drawn>;

const PAGES: Record<string, Draw> = {
  '/admin': todayPage,
  '/admin/cases': todoPage,
  '/admin/cases/:id': casePage,
  '/admin/orders': ordersPage,
  '/admin/orders/:id': orderPage,
  '/admin/orders/:id/proof': proof,
  '/admin/find': searchPage,
  '/admin/money': moneyPage,
  '/admin/checks': checksPage,
  '/admin/checks/:id': comparisonPage,
  '/admin/activity': activityPage,
};

const form = express.text({ type: 'application/x-www-form-urlencoded', limit: '64kb' });
// PostgreSQL text cannot contain NUL.
const fieldsOf = (req: Request) => new URLSearchParams(String(req.body).replaceAll('%00', ''));
const send = (res: Response, html: string, status = 200) => res.status(status).type('html').send(html);

/**
 * The routes of the console.
 * @param ownOrigin our origin, as browsers reach it
 * @param shop the shop's name
 */
export function consoleRoutes(parts: ConsoleParts, ownOrigin: () => string, shop: string): Router {
  const console = openConsole(parts, ownOrigin, shop);
  const router = Router();
  router.use('/style.css', express.static(fileURLToPath(new URL('style.css', import.meta.url)), { maxAge: 300_000 }));
  router.use('/admin', form, (req, res, next) => {
    // Without this policy, browsers hide the origin of a form, which we check.
    res.set({ 'referrer-policy': 'same-origin', 'cache-control': 'no-store' });
    if (req.originalUrl.includes('%00')) throw new Problem('not-found');
    next();
  });
  logIn(router, console);
  router.get('/admin/money.csv', async (req, res) => bookFile(await hereOf(console, req), res));
  for (const [path, draw] of Object.entries(PAGES)) {
    router.get(path, async (req, res) => show(res, draw, await hereOf(console, req)));
    router.post(path, async (req, res) => perform(res, draw, await hereOf(console, req), fieldsOf(req)));
  }
  router.use('/admin', notFound, problemPage(console));
  return router;
}

/** Log-in, log-out, and the check that guards all other pages. */
function logIn(router: Router, { parts, sessions, shop }: Console): void {
  const tries = createLimit({ pool: parts.database.pool, name: 'login', points: 10, perSec: 900 });
  const page = (to: unknown, fault: string | null) =>
    loginPage(shop, parts.policy.mode, sessions.asksName, pageAfter(to), fault);
  router.get('/admin/login', (req, res) => void send(res, page(req.query.to, null)));
  router.post('/admin/login', async (req, res) => {
    if (!isFromHere(req)) throw new Problem('foreign-origin');
    const fields = fieldsOf(req);
    const opened = sessions.open(fields.get('key') ?? '', fields.get('name') ?? '');
    if ('fault' in opened) {
      // Only failed log-ins count, so another person's wrong keys never lock out the owner of a
      // correct key.
      await tries.take(networkOf(req.ip));
      send(res, page(fields.get('to'), opened.fault), 401);
    } else {
      await parts.prisma.journalEntry.create({ data: { what: 'logged in', by: opened.name } });
      setCookie(res, 'admin', opened.cookie, SESSION_SEC).redirect(303, pageAfter(fields.get('to')));
    }
  });
  router.use('/admin', (req, res, next) => {
    const who = sessions.whoIs(req);
    if (who !== null && req.method === 'POST' && !isOurForm(req, fieldsOf(req).get('form'), who))
      throw new Problem('foreign-origin');
    if (who !== null) next();
    else if (sessions.hasKeys) res.redirect(303, `/admin/login?to=${encodeURIComponent(pageAfter(req.originalUrl))}`);
    else send(res, bare(shop, words.problems.off, words.problems['switch-on']), 403);
  });
  router.post('/admin/logout', (req, res) => {
    const who = sessions.whoIs(req);
    if (who !== null) sessions.close(who);
    setCookie(res, 'admin', '', 0).redirect(303, '/admin/login');
  });
}

/** The page after a log-in: always a page of the console, whatever the request asked for. */
function pageAfter(to: unknown): string {
  const url = typeof to === 'string' && URL.canParse(to, 'http://here') ? new URL(to, 'http://here') : null;
  const isPage = url?.origin === 'http://here' && /^\/admin(?!\/log(in|out)\b)(\/|$)/.test(url.pathname);
  return isPage ? url.pathname + url.search : '/admin';
}

async function show(res: Response, draw: Draw, here: Here, status = 200): Promise<void> {
  const drawn = await draw(here);
  if (drawn === null) throw new Problem('not-found');
  if (here.told !== '' && 'body' in drawn) setCookie(res, 'told', '', 0);
  if ('to' in drawn) res.redirect(303, drawn.to);
  else send(res, 'html' in drawn ? drawn.html : framed(here, drawn.title, drawn.body), status);
}

/**
 * Handles a submitted form: shows the page again with the typed values, asks for confirmation, or
 * runs the action.
 */
async function perform(res: Response, draw: Draw, here: Here, sent: URLSearchParams): Promise<void> {
  const action = findForm(sent.get('do'));
  if (action === undefined) throw new Problem('not-found');
  if (!may(here.who, action.role)) throw new Problem('role-may-not');
  const again = (status: number, more: Partial<Typed> = {}) =>
    show(res, draw, { ...here, typed: { values: sent, faults: {}, error: null, ...more } }, status);
  const { input, faults } = readForm(action, sent);
  if (sent.get('sure') === 'no') return again(200);
  if (input === null) return again(422, { faults });
  try {
    const sure = await CONFIRMED[action.name]?.(here, input);
    if (sure && 'faults' in sure) await again(422, sure);
    else if (sure && sent.get('sure') !== 'yes') send(res, framed(here, sure.title, surePage(sure, here, sent)));
    else {
      const { sentence } = await action.run(here.parts, input);
      setCookie(res, 'told', sure?.done ?? doneText(action, sentence), 60).redirect(303, here.address);
    }
  } catch (error) {
    if (!(error instanceof UserFacingError)) throw error;
    // The case may have changed since the page was loaded, so show it as it is now, with the
    // refusal in plain words.
    const why = error.message.replace(/^(Nothing was done\. |case \d+ (is not decided: )?)/, '');
    await again(409, { error: why.replace('verify', 'the payment service') });
  }
}

/** Shows every refusal as a page. */
function problemPage(console: Console): ErrorRequestHandler {
  return async (error: unknown, req, res, next) => {
    const { type, status, options } = asProblem(error, isDatabaseAway);
    if (!(error instanceof Problem) && status >= 500)
      console.parts.logger.error({ err: error, requestId: req.id }, 'request failed');
    if (options.retryAfterSec !== undefined && !res.headersSent) res.set('retry-after', String(options.retryAfterSec));
    const isOrder = type === 'not-found' && req.originalUrl.startsWith('/admin/orders/');
    const title = isOrder ? words.problems['no-order'] : PROBLEMS[type].title;
    const told = (words.problems as Record<string, string>)[type] ?? words.problems['not-found'];
    const here = await hereOf(console, req).catch(() => null);
    if (res.headersSent) next(error);
    else send(res, here ? framed({ ...here, told: '' }, title, told) : bare(console.shop, title, told), status);
  };
}
