import type { Request, RequestHandler } from 'express';
import { sendPage } from '../../platform/html.tsx';
import { Problem } from '../../platform/problem.ts';
import { StaleFormPage } from './login-page.tsx';
import { ROLES, type Role } from '../../platform/operator.ts';

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

/**
 * The least role for what a form names by the last word of its address, or by its button. Roles above it on
 * the ladder ({@link ROLES}) may do it too. What is in neither of these two lists takes an operator, so a new
 * form is closed to clerks until it is listed.
 */
const LEAST_ROLE_OF_FORM: Readonly<Record<string, Role>> = {
  logout: 'viewer',
  // What is done there, the button says.
  cases: 'clerk',
  assign: 'clerk',
  note: 'clerk',
  // Asks the service about a payment, from its order or from a webhook.
  checks: 'clerk',
  webhooks: 'clerk',
  // Shows whose order it is, under a name and with a reason.
  customer: 'clerk',
  // Delivers again.
  releases: 'clerk',
  events: 'clerk',
  withheld: 'clerk',
  // Writes down what goes back to the shopper, or ends an order that is not paid.
  refunds: 'clerk',
  cancel: 'clerk',
  reopen: 'clerk',
};

/** The same for the decision by which a form resolves something: those that give the money back. */
const LEAST_ROLE_OF_DECISION: Readonly<Record<string, Role>> = { refund: 'clerk', surplus: 'clerk' };

const LEAST_ROLE = new Map(Object.entries({ ...LEAST_ROLE_OF_FORM, ...LEAST_ROLE_OF_DECISION }));

/** Ids have digits or 24 letters. */
const WORD = /^[a-z_-]{1,20}$/;

/** The actions of a form, each of which the role must allow. @param path of its address */
export function actionsOf(path: string, fields: URLSearchParams): string[] {
  const word = path.split('/').findLast((part) => WORD.test(part)) ?? '';
  const given = (name: string): string[] => [fields.get(name) ?? ''].filter((text) => text !== '');
  const [operation] = given('operation');
  const [decision] = operation === 'resolve' ? given('decision') : [];
  return [word, decision ?? operation].filter((action) => action !== undefined);
}

export function leastRoleFor(action: string): Role {
  return LEAST_ROLE.get(action) ?? 'operator';
}

/**
 * Whether the role is the least one for the action, or above it.
 * @param role null: there are no named operators, so a person who gets this far may do everything
 */
export function mayDo(role: Role | null, action: string): boolean {
  return role === null || ROLES.indexOf(role) >= ROLES.indexOf(leastRoleFor(action));
}
