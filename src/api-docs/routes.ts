import { Router } from 'express';
import { fileURLToPath } from 'node:url';
import { sendPage } from '../platform/html.tsx';
import { Problem } from '../platform/problem.ts';
import { isProblemType, PROBLEMS, type ProblemType } from '../platform/problem-types.ts';
import { DocsPage, ProblemsPage } from './docs-page.tsx';
import { openApiDocument } from './document.ts';

const asset = (name: string): string => fileURLToPath(new URL(`./client/${name}`, import.meta.url));

/** Files that a storefront on another origin may load as they are; nothing else of the folder is served. */
const STOREFRONT_FILES: Record<string, string> = {
  '/storefront/checkout-client.js': asset('checkout-client.js'),
  '/storefront/example.js': asset('example.js'),
  '/docs/example': asset('example.html'),
};

/**
 * The description of the interface: for programs, for people, and as a one-page example storefront
 * that uses nothing else.
 */
export function docsRoutes({ publicOrigin }: { publicOrigin: () => string }): Router {
  const router = Router();
  router.get('/openapi.json', (_req, res) => {
    res.set('cache-control', 'max-age=60').json(openApiDocument(publicOrigin()));
  });
  router.get('/docs', (_req, res) => {
    sendPage(res, DocsPage({ origin: publicOrigin() }));
  });
  router.get('/problems', (_req, res) => {
    sendPage(res, ProblemsPage({ types: Object.keys(PROBLEMS) as ProblemType[] }));
  });
  router.get('/problems/:type', (req, res) => {
    const { type } = req.params;
    if (!isProblemType(type)) throw new Problem('not-found');
    sendPage(res, ProblemsPage({ types: [type] }));
  });
  for (const [address, file] of Object.entries(STOREFRONT_FILES)) {
    router.get(address, (_req, res) => {
      // Browsers need this header to load a module from another origin; the file
      // contains nothing secret.
      res.set({ 'cache-control': 'max-age=60', 'access-control-allow-origin': '*' }).sendFile(file);
    });
  }
  return router;
}
