import { Router, type Response } from 'express';
import type { Catalogue } from '../orders/catalogue.ts';
import type { Order } from '../orders/order.ts';
import type { Mode } from '../platform/mode.ts';
import { sendPage } from '../platform/html.tsx';
import { notFound, Problem } from '../platform/problem.ts';
import { cachingOf, findAsset, readAssets, type Asset } from './assets.ts';
import type { Branding } from './branding.ts';
import { OrderPage } from './order-page.tsx';
import type { ReviewDecision } from './order-status-text.ts';
import { ShopPage } from './shop-page.tsx';

export type ShopRoutesParts = {
  branding: Branding;
  /** A folder of the shop's own, served under `/shop/own/`. */
  ownAssets?: URL | undefined;
  /** Null: there is no shop page, only the order page that shoppers come back to. */
  catalogue: Pick<Catalogue, 'products'> | null;
  findOrder: (id: string) => Promise<Order | null>;
  /** The order that a browser was sent away with, by its cookies; null when there is none, or it is paid by now. */
  openOrderOf?: (cookies: string | undefined) => Promise<Order | null>;
  /** What was decided about an order under review; null while anything of it is undecided. */
  decisionsAbout?: (orderId: string) => Promise<readonly ReviewDecision[] | null>;
  /** Whether the key behind the shop is a test key. Undefined: the shop page does not promise that it is. */
  mode?: Mode;
};

/**
 * The demo storefront, mounted at `/shop`. It only shows: buying is a form post to `/checkout`, and what an order
 * page says comes from the order as it stands.
 */
export function shopRoutes(parts: ShopRoutesParts): Router {
  const { branding, catalogue, findOrder, mode, openOrderOf, decisionsAbout } = parts;
  const own = parts.ownAssets === undefined ? null : readAssets(parts.ownAssets);
  const router = Router();

  if (catalogue !== null) {
    router.get('/', async (req, res) => {
      const [products, openOrder] = await Promise.all([
        catalogue.products(),
        openOrderOf?.(req.get('cookie')) ?? null,
      ]);
      sendPage(res, ShopPage({ branding, products, mode, openOrder }));
    });
  }

  router.get('/assets/:name', (req, res) => {
    sendAsset(res, findAsset(req.params.name));
  });
  router.get('/own/:name', (req, res) => {
    sendAsset(res, own?.get(req.params.name));
  });

  // Only what can be an id (platform/ids.ts) matches. Anything else, even an address that cannot be decoded, gets the
  // answer of an unknown id: nobody learns from it which orders exist.
  router.get(/^\/orders\/(?<orderId>[A-Za-z0-9]{24})$/, async (req, res) => {
    const order = await findOrder(String(req.params.orderId));
    if (order === null) throw new Problem('not-found');
    const decisions = order.status === 'review' ? ((await decisionsAbout?.(order.id)) ?? null) : null;
    sendPage(res, OrderPage({ branding, order, decisions }));
  });
  router.use('/orders', notFound);
  return router;
}

function sendAsset(res: Response, asset: Asset | undefined): void {
  if (asset === undefined) throw new Problem('not-found');
  res
    .set('cache-control', cachingOf(asset, res.req.query.v))
    .set('etag', `"${asset.version}"`)
    .type(asset.type)
    .send(asset.body);
}
