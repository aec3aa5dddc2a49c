import express, { type Express } from 'express';
import helmet from 'helmet';
import type { Catalogue, Product } from '../../src/orders/catalogue.ts';
import type { Order, OrderStatus } from '../../src/orders/order.ts';
import { createLogger } from '../../src/platform/logger.ts';
import type { Mode } from '../../src/platform/mode.ts';
import { notFound, problemHandler } from '../../src/platform/problem.ts';
import { brandingOf } from '../../src/demo-shop/frame.tsx';
import { problemPageOf, shopRoutes } from '../../src/demo-shop/routes.ts';
import { asOrderId, asReference } from '../support/ids.ts';

/** The content policy that every page must live with: nothing inline, nothing from outside. */
const contentPolicy = helmet({
  contentSecurityPolicy: {
    useDefaults: false,
    directives: {
      'default-src': ["'none'"],
      'script-src': ["'self'"],
      'style-src': ["'self'"],
      'img-src': ["'self'", 'data:'],
      'connect-src': ["'self'"],
      'form-action': ["'self'"],
    },
  },
  strictTransportSecurity: false,
});

const DEMO = brandingOf(null, true);

export type ShopParts = { products?: Product[]; orders?: Order[]; mode?: Mode };

/** The shop in a small app of its own. `asked` tells which ids were looked for. */
export function shopApp({ products = GOODS, orders = [], mode }: ShopParts = {}): {
  app: Express;
  asked: string[];
} {
  const asked: string[] = [];
  const app = express();
  app.use(contentPolicy);
  app.use(
    '/shop',
    shopRoutes({
      branding: DEMO,
      catalogue: { products: () => Promise.resolve(products) } satisfies Pick<Catalogue, 'products'>,
      findOrder: (id) => {
        asked.push(id);
        return Promise.resolve(orders.find((order) => order.id === id) ?? null);
      },
      ...(mode !== undefined && { mode }),
    }),
  );
  return { app, asked };
}

/** What the whole app has behind its routes. */
export function withErrors(app: Express): Express {
  return app.use(notFound).use(problemHandler(createLogger('silent'), problemPageOf(DEMO)));
}

export function product(sku: string, amount: bigint, currency: string, rest: Partial<Product> = {}): Product {
  const price = { amount, currency };
  return {
    sku,
    name: `The ${sku}`,
    description: 'A thing.',
    image: `/shop/assets/${sku}.svg`,
    price,
    ...rest,
  };
}

/** Two, no and three decimals. */
export const GOODS = [
  product('ankara-tote', 850_000n, 'NGN'),
  product('jollof-kit', 420_050n, 'NGN'),
  product('djembe', 65_000n, 'XOF'),
  product('date-box', 3_125n, 'KWD'),
];

export const ORDER_ID = 'Ab3dEf6hIj9kLm2nOp5qRs8t';
export const REFERENCE = 'Zt5QpN8cRw2LkXv9BmYd4HsG';

/** Each status once; a new one does not compile until it stands here. */
export const STATUSES = Object.keys({
  pending: true,
  paid: true,
  failed: true,
  expired: true,
  review: true,
  cancelled: true,
} satisfies Record<OrderStatus, true>) as OrderStatus[];

export function order(status: OrderStatus, rest: Partial<Order> = {}): Order {
  return {
    id: asOrderId(ORDER_ID),
    externalId: null,
    releaseId: `rel_${ORDER_ID}`,
    mode: 'test',
    status,
    total: { amount: 1_690_100n, currency: 'NGN' },
    lines: [
      { sku: 'ankara-tote', description: 'Ankara tote bag', unitAmount: 850_000n, quantity: 1 },
      { sku: 'jollof-kit', description: 'Jollof starter kit', unitAmount: 420_050n, quantity: 2 },
    ],
    details: {},
    metadata: {},
    payBy: null,
    isPastDeadline: false,
    paidAt: status === 'paid' ? new Date('2025-11-20T11:07:00Z') : null,
    came: rest.total?.amount ?? 1_690_100n,
    refunded: 0n,
    refundedAt: null,
    reference: asReference(REFERENCE),
    ...rest,
  };
}

/** What the content policy would stop a browser from doing; empty for a page that may be served. */
export function inlineParts(html: string): string[] {
  const tags = html.match(/<[a-z](?:"[^"]*"|[^">])*>/gi) ?? [];
  return tags.filter((tag) => {
    const names = tag.replace(/"[^"]*"/g, '""');
    return (
      /^<style/i.test(tag) ||
      (/^<script/i.test(tag) && !/\ssrc="\/shop\/assets\//.test(tag)) ||
      /\s(style|on[a-z]+|srcdoc)\s*=/i.test(names) ||
      /\s(href|src|action)="\s*(javascript:|https?:|\/\/)/i.test(tag)
    );
  });
}

/** The forms of a page as a browser without script would send them untouched. */
export function formsOf(html: string): { action: string; method: string; fields: [string, string][] }[] {
  return [...html.matchAll(/<form([^>]*)>(.*?)<\/form>/gs)].map(([, attributes = '', content = '']) => ({
    action: attribute(attributes, 'action'),
    method: attribute(attributes, 'method'),
    fields: [...content.matchAll(/<input([^>]*)>/g)].map(([, field = '']) => [
      attribute(field, 'name'),
      attribute(field, 'value'),
    ]),
  }));
}

function attribute(attributes: string, name: string): string {
  return new RegExp(`\\s${name}="([^"]*)"`).exec(attributes)?.[1] ?? '';
}
