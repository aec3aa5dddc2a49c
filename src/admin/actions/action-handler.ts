import type { Request, RequestHandler, Response } from 'express';
import type { VNode } from 'preact';
import { sendPage } from '../../platform/html.tsx';
import type { Mode } from '../../platform/mode.ts';
import type { SiteGuard } from '../admin-parts.ts';
import { cookieLine, COOKIES } from '../login/cookies.ts';
import type { Frame } from '../layout/frame.tsx';
import { readActionForm, type ActionForm } from './action-form.ts';
import { addressTelling, sentencesOf, type Told } from './flash-message.ts';

const A_YEAR_SEC = 365 * 86_400;

export function frameOf({ visitorOf, shop }: SiteGuard, mode: Mode, req: Request): Frame {
  return { visitor: visitorOf(req), shop, mode, told: sentencesOf(req.query.told) };
}

/**
 * Performs a form's action and redirects to a page that shows the result. The browser stores the
 * name for the next time.
 * @param back the address to redirect to, built from the form's fields; always a page of ours
 * @param askFirst returns a page to answer with: a confirmation of what cannot be undone, or what was asked
 * to be seen; null: act
 */
export function actionHandler(
  back: (req: Request, fields: URLSearchParams) => string,
  act: (form: ActionForm, req: Request) => Told | Promise<Told>,
  askFirst: (form: ActionForm, req: Request) => Promise<VNode | null> = () => Promise.resolve(null),
): RequestHandler {
  return async (req: Request, res: Response) => {
    const form = readActionForm(req.body);
    const question = 'told' in form ? null : await askFirst(form, req);
    if (question !== null) {
      sendPage(res, question);
      return;
    }
    const told = 'told' in form ? form.told : await act(form, req);
    if (!('told' in form)) res.append('set-cookie', cookieLine(COOKIES.name, form.by, A_YEAR_SEC));
    res.redirect(303, addressTelling(back(req, new URLSearchParams(String(req.body))), told));
  };
}
