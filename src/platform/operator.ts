import { z } from 'zod';
import { Secret } from './secret.ts';

/**
 * A ladder, from the least to the most: each role may do all that those before it may. A viewer looks, a
 * clerk also acts, an operator also gives money up.
 */
export const ROLES = ['viewer', 'clerk', 'operator'] as const;
export type Role = (typeof ROLES)[number];

/** A person who may open operations. Who acts signs each act by name. */
export type Operator = { name: string; role: Role; token: Secret };

/** The operator that `ADMIN_TOKEN` belongs to. */
export function adminWith(token: Secret): Operator {
  return { name: 'admin', role: 'operator', token };
}

// Everything after the second colon is the token. It is sent as a bearer token: printable, and no space.
const ENTRY = /^([\p{L}\p{N}][\p{L}\p{N} ._-]{0,79}):([a-z]+):([\x21-\x7e]+)$/u;

/**
 * `name:role:token` entries, comma separated.
 * @param taken names under which the program itself acts
 */
export function operatorList(taken: readonly string[]) {
  return z.string().transform((text, context): Operator[] => {
    const entries = text.split(',').flatMap((entry) => (entry.trim() === '' ? [] : [entry.trim()]));
    const operators = entries.flatMap((entry) => {
      const [, name = '', word, token = ''] = ENTRY.exec(entry) ?? [];
      const role = ROLES.find((known) => known === word);
      return role === undefined ? [] : [{ name, role, token: new Secret(token) } satisfies Operator];
    });
    const names = new Set(operators.map(({ name }) => name.toLowerCase()));
    const fault =
      operators.length < entries.length
        ? 'must be entries like ada:operator:token, comma separated; roles are viewer, clerk and operator'
        : names.size < operators.length
          ? 'must not hold a name twice'
          : taken.some((name) => names.has(name.toLowerCase()))
            ? 'must not hold a name by which the program itself signs'
            : null;
    if (fault === null) return operators;
    context.addIssue({ code: 'custom', message: fault });
    return z.NEVER;
  });
}
