import { z } from 'zod';
import { SCHEMAS, type SchemaNode } from './schemas.ts';
import type { Operation } from './operation.ts';

/**
 * A value for each field that is a text, by its name: examples of bodies are made of the schemas and of
 * these.
 */
const VALUES: Readonly<Record<string, string>> = {
  amount: '8500.00',
  class: 'underpaid',
  currency: 'NGN',
  description: 'Ankara tote bag',
  email: 'ada@example.com',
  externalId: 'SO-1001',
  findingId: '12',
  orderId: 'AcCJrdmdAcCJrdmdAcCJrdmd',
  reason: 'Scratched',
  reference: 't27pAbCdt27pAbCdt27pAbCd',
  refundId: 't27pAbCdt27pAbCdt27pAbCd',
  refundAmount: '500.00',
  refundExternalId: 'RF-1001',
  refunded: '500.00',
  sku: 'ankara-tote',
  suspenseId: '9',
  unexplained: '500.00',
  unitAmount: '8500.00',
};
const TIME = '2026-01-31T08:00:00.000Z';

/**
 * What a client may send, or is sent: the required fields of the schema.
 * @param words which to take where there are several
 */
export function exampleOf(schema: z.ZodType, words: readonly string[] = []): unknown {
  return valueOf(z.toJSONSchema(schema, { io: 'input' }) as SchemaNode, '', words);
}

function valueOf(node: SchemaNode, name: string, wanted: readonly string[]): unknown {
  if (node.const !== undefined) return node.const;
  const { enum: words, anyOf, items, properties = {}, required = [] } = node;
  if (words) return wanted.find((word) => words.includes(word)) ?? words[0];
  if (anyOf) return valueOf(anyOf[0] ?? {}, name, wanted);
  if (items) return [valueOf(items, name, wanted)];
  const [type] = [node.type].flat();
  if (type === 'object')
    return Object.fromEntries(required.map((each) => [each, valueOf(properties[each] ?? {}, each, wanted)]));
  if (type === 'integer') return 1;
  if (type === 'boolean') return true;
  if (type !== 'string') return null;
  return node.format === 'date-time' ? TIME : (VALUES[name] ?? '…');
}

const TOKENS = { shopApiToken: '$SHOP_API_TOKEN', adminToken: '$ADMIN_TOKEN' } as const;

/** The call as it is typed into a shell. */
export function curlOf({ method, path, body, token, success }: Operation, origin: string): string {
  const address = `${origin}${path.replace('{orderId}', VALUES.orderId ?? '').replace('{reference}', VALUES.reference ?? '')}`;
  const sent =
    body && (body.schema === null ? { reference: VALUES.reference } : exampleOf(SCHEMAS[body.schema]));
  return [
    `curl ${success.contentType === 'text/event-stream' ? '-N ' : ''}${method === 'post' ? '-X POST ' : ''}${address}`,
    ...(token ? [`-H "Authorization: Bearer ${TOKENS[token]}"`] : []),
    ...(sent ? [`-H 'Content-Type: application/json'`, `-d '${JSON.stringify(sent)}'`] : []),
  ].join(' \\\n  ');
}
