import { ROLES, type Role } from '../../platform/operator.ts';

/**
 * The least role for each action; an action that is not listed is the operator's. A form names its action
 * by the last word of its address, by its button, and when it resolves something by the decision.
 */
const LEAST_ROLE: Readonly<Record<string, Role>> = {
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
  // Writes down what goes back to the shopper, or ends what nobody has paid.
  refund: 'clerk',
  surplus: 'clerk',
  refunds: 'clerk',
  cancel: 'clerk',
  reopen: 'clerk',
};

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

/** The least role that may do it. */
export function leastRoleFor(action: string): Role {
  return (Object.hasOwn(LEAST_ROLE, action) ? LEAST_ROLE[action] : undefined) ?? 'operator';
}

/** @param role null: nobody is named here, so a person who gets this far may do everything */
export function mayDo(role: Role | null, action: string): boolean {
  return role === null || ROLES.indexOf(role) >= ROLES.indexOf(leastRoleFor(action));
}
