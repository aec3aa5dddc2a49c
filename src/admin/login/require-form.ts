import type { Request, RequestHandler } from 'express';
import { sendPage } from '../../platform/html.tsx';
import { Problem } from '../../platform/problem.ts';
import { StaleFormPage } from './login-page.tsx';
import { actionsOf, leastRoleFor } from './roles.ts';

/** Of a visitor: what a form is checked against. */
type Signer = { name: string; isNamed: boolean; formToken: string; may(action: string): boolean };

/**
 * Refuses a form that one of our pages did not send, or whose action the role may not do; signs the others.
 * @throws {Problem} 403 for an action that the role may not do
 */
export function requireForm(visitorOf: (req: Request) => Signer): RequestHandler {
  return (req, res, next) => {
    const fields = new URLSearchParams(String(req.body));
    const visitor = visitorOf(req);
    if (!isFromHere(req) || fields.get('form') !== visitor.formToken) {
      sendPage(res, StaleFormPage(), 403);
      return;
    }
    const refused = actionsOf(req.path, fields).find((action) => !visitor.may(action));
    if (refused !== undefined) throw refusal(refused);
    req.body = signed(fields, visitor).toString();
    next();
  };
}

function refusal(action: string): Problem {
  return new Problem('role-may-not', { detail: `It takes the role ${leastRoleFor(action)}.` });
}

/**
 * Done here and not in each form, so that no form can omit it: a known name is never
 * taken from the request.
 */
function signed(fields: URLSearchParams, { isNamed, name }: Signer): URLSearchParams {
  if (isNamed) fields.set('by', name);
  // PostgreSQL's texts take none.
  return new URLSearchParams([...fields].map(([field, text]) => [field, text.replaceAll('\0', '')]));
}

/**
 * Whether a request comes from this site. Browsers send its origin with a post. Other programs do not,
 * but they have no cookie that a stranger could use.
 */
export function isFromHere(req: Request): boolean {
  const site = req.get('sec-fetch-site');
  if (site !== undefined) return site === 'same-origin';
  const origin = req.get('origin');
  return origin === undefined || (URL.canParse(origin) && new URL(origin).host === req.get('host'));
}
