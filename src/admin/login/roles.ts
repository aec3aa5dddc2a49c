import { ROLES, type Role } from '../../platform/operator.ts';

/** Of what a form names by the last word of its address, or by its button. */
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

/** Of the decision by which a form resolves something: those that give the money back. */
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

/** The least role for a form or a decision; what is not listed is the operator's. */
export function leastRoleFor(action: string): Role {
  return LEAST_ROLE.get(action) ?? 'operator';
}

/** @param role null: there are no named operators, so a person who gets this far may do everything */
export function mayDo(role: Role | null, action: string): boolean {
  return role === null || ROLES.indexOf(role) >= ROLES.indexOf(leastRoleFor(action));
}
