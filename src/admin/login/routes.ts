import express, { Router } from 'express';
import { clientNetwork, createGuessLimit } from '../../platform/rate-limits.ts';
import type { Database } from '../../platform/database/database.ts';
import { sendPage } from '../../platform/html.tsx';
import type { AdminGuard } from './guard.ts';
import type { Mode } from '../../platform/mode.ts';
import { LoginPage, StaleFormPage, pageAfterLogin } from './login-page.tsx';
import { isFromHere } from './require-form.ts';

/**
 * The time window of the limit. An operator does not mistype a token eleven times, and
 * can wait if it happens.
 */
const WINDOW_SEC = 15 * 60;

type Parts = { database: Database; guard: AdminGuard; shop: string; mode: Mode };

/** Login and logout. */
export function loginRoutes({ database, guard, shop, mode }: Parts): Router {
  const router = Router();
  const limit = createGuessLimit(database, 'admin-login', WINDOW_SEC);
  const form = express.text({ type: 'application/x-www-form-urlencoded', limit: '4kb' });
  router.get('/admin/login', (req, res) => {
    sendPage(res, LoginPage({ shop, mode, to: pageAfterLogin(req.query.to), fault: null }));
  });
  router.post('/admin/login', form, async (req, res) => {
    if (!isFromHere(req)) {
      sendPage(res, StaleFormPage(), 403);
      return;
    }
    const fields = new URLSearchParams(String(req.body));
    const to = pageAfterLogin(fields.get('to'));
    const address = clientNetwork(req.ip);
    const waitSec = await limit.count(address);
    if (waitSec > 0) {
      const fault = `Too many tries. Try again in ${Math.ceil(waitSec / 60)} minutes.`;
      sendPage(res.set('retry-after', String(waitSec)), LoginPage({ shop, mode, to, fault }), 429);
      return;
    }
    const cookie = guard.login(fields.get('token') ?? '');
    if (cookie === null) {
      const fault = 'That is not the token of an operator.';
      sendPage(res, LoginPage({ shop, mode, to, fault }), 401);
      return;
    }
    await limit.forget(address);
    res.set('set-cookie', cookie).redirect(303, to);
  });
  router.post('/admin/logout', form, guard.requireLogin, guard.requireForm, (req, res) => {
    res.set('set-cookie', guard.logout(req)).redirect(303, '/admin/login');
  });
  return router;
}
