import type { Request, RequestHandler, Response } from 'express';
import type { VNode } from 'preact';
import { sendPage } from '../../platform/html.tsx';
import type { Mode } from '../../platform/mode.ts';
import type { AdminGuard } from '../login/guard.ts';
import { cookieLine, COOKIES } from '../login/cookies.ts';
import type { Frame } from '../layout/frame.tsx';
import { readDeedForm, type DeedForm } from './action-form.ts';
import { addressTelling, sentencesOf, type Told } from './flash-message.ts';

const A_YEAR_SEC = 365 * 86_400;

export function frameOf(guard: AdminGuard, mode: Mode, req: Request): Frame {
  return { visitor: guard.visitorOf(req), mode, told: sentencesOf(req.query.told) };
}

/**
 * Does what a form asks for and leads back to a page that tells it. The browser keeps the name for the next time.
 * @param back where to, by the form's fields; a page of ours whatever they say
 * @param askFirst a page that asks once more, for what cannot be taken back; null: do it
 */
export function deedHandler(
  back: (req: Request, fields: URLSearchParams) => string,
  act: (form: DeedForm, req: Request) => Told | Promise<Told>,
  askFirst: (form: DeedForm, req: Request) => Promise<VNode | null> = () => Promise.resolve(null),
): RequestHandler {
  return async (req: Request, res: Response) => {
    const form = readDeedForm(req.body);
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
