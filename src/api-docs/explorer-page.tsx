import { Router } from 'express';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { renderToString } from 'preact-render-to-string';
import { apiDocument } from './document.ts';

const AT = '/docs/explorer';
const OWN_FOLDER = dirname(fileURLToPath(import.meta.url));
const STYLES = ['swagger-ui.css', 'explorer.css'];
const SCRIPTS = ['swagger-ui-bundle.js', 'explorer.js'];
const FILES = [...STYLES, ...SCRIPTS];

/**
 * The folder of Swagger UI's files. Null: the development packages are not installed. The package
 * swagger-ui-dist has the same files, but it depends on a package that reports each installation.
 */
export function findSwaggerUi(): string | null {
  try {
    return dirname(createRequire(import.meta.url).resolve('@fastify/swagger-ui/static/swagger-ui.css'));
  } catch {
    return null;
  }
}

/**
 * Swagger UI, with which people read the API and send requests to this server, during development.
 * Its files are read when a browser requests them.
 * @param ownOrigin the origin under which clients reach the server
 */
export function explorerRoutes(swaggerUi: string, ownOrigin: () => string): Router {
  const router = Router();
  const folderOf = (name: string): string => (name.startsWith('swagger-ui') ? swaggerUi : OWN_FOLDER);
  let version = '';
  router.get(AT, (_req, res) => {
    version ||= versionOf(FILES.map((name) => join(folderOf(name), name)));
    const origin = ownOrigin();
    const page = renderToString(<ExplorerPage version={version} origin={origin} />);
    res.set('content-security-policy', policyFor(origin)).send(`<!doctype html>${page}`);
  });
  for (const name of FILES)
    router.get(`${AT}/${name}`, (_req, res) => {
      // The page names the version of its files, so that a browser may keep them.
      res.sendFile(name, { root: folderOf(name), maxAge: '1y', immutable: true });
    });
  return router;
}

function versionOf(files: readonly string[]): string {
  const hash = createHash('sha256');
  for (const file of files) hash.update(readFileSync(file));
  return hash.digest('base64url').slice(0, 12);
}

/**
 * The console has the same origin as this page. The policy therefore lets Swagger UI send requests
 * to the documented calls only, and no forms.
 */
function policyFor(origin: string): string {
  const calls = Object.keys(apiDocument(origin).paths).map((path) => origin + path.replace(/\{.*/, ''));
  return [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
    `connect-src ${[...new Set(calls)].join(' ')}`,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
}

function ExplorerPage({ version, origin }: { version: string; origin: string }) {
  return (
    <html lang="en">
      <head>
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>API explorer</title>
        {STYLES.map((name) => (
          <link rel="stylesheet" href={`${AT}/${name}?v=${version}`} />
        ))}
        {SCRIPTS.map((name) => (
          <script defer src={`${AT}/${name}?v=${version}`} />
        ))}
      </head>
      <body>
        <nav>
          <a href="/docs">Plain page</a> <a href="/openapi.json">openapi.json</a>
        </nav>
        <noscript>The explorer needs scripts. The plain page shows the same calls without them.</noscript>
        <div id="explorer" data-origin={origin} />
      </body>
    </html>
  );
}
