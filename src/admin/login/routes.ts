import express, { Router } from 'express';
import { clientNetwork } from '../../platform/client-network.ts';
import type { Database } from '../../platform/database/database.ts';
import { createGuessLimit } from '../../platform/guess-limit.ts';
import { sendPage } from '../../platform/html.tsx';
import type { AdminGuard } from './guard.ts';
import { LoginPage, StaleFormPage } from './login-page.tsx';
import { isFromHere } from './require-form.ts';

/**
 * The time window of the limit. An operator does not mistype a token eleven times, and
 * can wait if it happens.
 */
const WINDOW_SEC = 15 * 60;

/** Login and logout. */
export function loginRoutes({ database, guard }: { database: Database; guard: AdminGuard }): Router {
  const router = Router();
  const limit = createGuessLimit(database, 'admin-login', WINDOW_SEC);
  const form = express.text({ type: 'application/x-www-form-urlencoded', limit: '4kb' });
  router.get('/admin/login', (_req, res) => {
    sendPage(res, LoginPage({ fault: null }));
  });
  router.post('/admin/login', form, async (req, res) => {
    if (!isFromHere(req)) {
      sendPage(res, StaleFormPage(), 403);
      return;
    }
    const address = clientNetwork(req.ip);
    const waitSec = await limit.count(address);
    if (waitSec > 0) {
      const fault = `Too many tries. Try again in ${Math.ceil(waitSec / 60)} minutes.`;
      sendPage(res.set('retry-after', String(waitSec)), LoginPage({ fault }), 429);
      return;
    }
    const cookie = guard.login(new URLSearchParams(String(req.body)).get('token') ?? '');
    if (cookie === null) {
      sendPage(res, LoginPage({ fault: 'That is not the token of an operator.' }), 401);
      return;
    }
    await limit.forget(address);
    res.set('set-cookie', cookie).redirect(303, '/admin');
  });
  router.post('/admin/logout', form, guard.requireLogin, guard.requireForm, (req, res) => {
    res.set('set-cookie', guard.logout(req)).redirect(303, '/admin/login');
  });
  return router;
}
