import type { ProblemType } from '../platform/problem-types.ts';
import { exampleOf, SCHEMAS, VALUES, type SchemaName } from './openapi-schemas.ts';

export type Parameter = {
  name: string;
  in: 'path' | 'query' | 'header';
  required: boolean;
  description: string;
};

/** One route: its input, its answer on success, and every refusal it can give. */
export type Operation = {
  id: string;
  method: 'get' | 'post';
  path: string;
  tag: 'Storefront' | 'Shop backend' | 'Payment service' | 'Shopper' | 'Operations';
  summary: string;
  description: string;
  parameters?: readonly Parameter[];
  body?: { schema: SchemaName | null; contentTypes: readonly string[] };
  success: {
    status: 200 | 201 | 202 | 303;
    /** Another status of the same answer. */
    orStatus?: 200;
    schema?: SchemaName;
    isList?: true;
    contentType?: string;
  };
  problems: readonly ProblemType[];
  /** Which token it requires. */
  token?: 'shopApiToken' | 'adminToken';
};

export const orderId: Parameter = {
  name: 'orderId',
  in: 'path',
  required: true,
  description: 'The unguessable id of an order. It is the only key: a client that has it may see the order.',
};

export const JSON_BODY = ['application/json'];
export const BODY_PROBLEMS: readonly ProblemType[] = [
  'malformed-request',
  'too-large',
  'unsupported-media-type',
];
/** The refusals of every route that uses the database. */
export const ALWAYS: readonly ProblemType[] = ['internal-error', 'database-unavailable'];

const TOKENS = { shopApiToken: '$SHOP_API_TOKEN', adminToken: '$ADMIN_TOKEN' } as const;

/** The call as it is typed into a shell. */
export function curlOf({ method, path, body, token, success }: Operation, origin: string): string {
  const address = origin + path.replace(/\{(\w+)\}/g, (_braces, name: string) => VALUES[name] ?? '');
  const isStream = success.contentType === 'text/event-stream';
  const sent =
    body && (body.schema === null ? { reference: VALUES.reference } : exampleOf(SCHEMAS[body.schema]));
  return [
    `curl ${isStream ? '-N ' : ''}${method === 'post' ? '-X POST ' : ''}${address}`,
    ...(token ? [`-H "Authorization: Bearer ${TOKENS[token]}"`] : []),
    ...(sent ? [`-H 'Content-Type: application/json'`, `-d '${JSON.stringify(sent)}'`] : []),
  ].join(' \\\n  ');
}
