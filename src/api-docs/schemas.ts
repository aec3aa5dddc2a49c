import { z } from 'zod';
import {
  checkoutInput,
  checkoutResume,
  checkoutStop,
  openedCheckout,
  stoppedView,
} from '../checkout/schemas.ts';
import { orderInput, cancelInput } from '../orders/schemas.ts';
import { orderView, productView, shopOrdersView, shopOrderView } from '../orders/order-view.ts';
import { refundInput, refundView } from '../orders/refunds.ts';
import { problemDocument } from '../platform/problem.ts';

/** The schemas by their names in the description. The routes validate with the same ones. */
export const SCHEMAS = {
  CheckoutInput: checkoutInput,
  OpenedCheckout: openedCheckout,
  CheckoutStop: checkoutStop,
  CheckoutResume: checkoutResume,
  Stopped: stoppedView,
  OrderInput: orderInput,
  Order: orderView,
  ShopOrder: shopOrderView,
  ShopOrders: shopOrdersView,
  CancelInput: cancelInput,
  RefundInput: refundInput,
  Refund: refundView,
  Product: productView,
  Problem: problemDocument,
};
export type SchemaName = keyof typeof SCHEMAS;

/**
 * One row of a schema's table. `path` is written as in the `errors` of a refusal, with `[]` for
 * each entry of a list.
 */
type Field = { path: string; type: string; meaning: string };

/** What the pages read of a JSON schema. */
export type SchemaNode = {
  type?: string | string[];
  enum?: unknown[];
  const?: unknown;
  anyOf?: SchemaNode[];
  properties?: Record<string, SchemaNode>;
  required?: string[];
  items?: SchemaNode;
  format?: string;
  description?: string;
  minimum?: number;
  maximum?: number;
  maxLength?: number;
  maxItems?: number;
};

/** The fields of a schema for people. The alternatives of a union follow each other, each headed by "or". */
export function fieldsOf(schema: z.ZodType): Field[] {
  const root = z.toJSONSchema(schema, { io: 'input' }) as SchemaNode;
  const alternatives = root.anyOf ?? [root];
  return alternatives.flatMap((node, at) => [
    ...(at === 0 ? [] : [{ path: 'or', type: '', meaning: '' }]),
    ...propertiesOf(node, ''),
  ]);
}

function propertiesOf(node: SchemaNode, prefix: string): Field[] {
  return Object.entries(node.properties ?? {}).flatMap(([name, property]) => {
    const path = prefix + name;
    const isRequired = node.required?.includes(name) ?? false;
    const nested = property.items
      ? propertiesOf(property.items, `${path}[].`)
      : propertiesOf(property, `${path}.`);
    return [
      {
        path,
        type: typeOf(property) + (isRequired ? '' : ', optional'),
        meaning: property.description ?? '',
      },
      ...nested,
    ];
  });
}

function typeOf(node: SchemaNode): string {
  if (node.const !== undefined) return JSON.stringify(node.const);
  if (node.enum) return node.enum.map((word) => JSON.stringify(word)).join(' | ');
  if (node.anyOf) return node.anyOf.map(typeOf).join(' | ');
  const bounds = [
    // The schema of an unbounded whole number has the bounds of what JSON numbers hold exactly.
    node.maximum !== undefined &&
      node.maximum < Number.MAX_SAFE_INTEGER &&
      `${node.minimum ?? 0} to ${node.maximum}`,
    node.maxLength !== undefined && `at most ${node.maxLength} characters`,
    node.maxItems !== undefined && `at most ${node.maxItems} entries`,
  ].filter((bound) => bound !== false);
  return [[node.type ?? 'anything'].flat().join(' | '), ...bounds].join(', ');
}
