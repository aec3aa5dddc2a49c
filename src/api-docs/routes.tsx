import { Router } from 'express';
import { readFileSync } from 'node:fs';
import type { VNode } from 'preact';
import { renderToString } from 'preact-render-to-string';
import { apiDocument, type Operation, type Schema } from './document.ts';
import { explorerRoutes, findSwaggerUi } from './explorer-page.tsx';

const client = readFileSync(new URL('./client.js', import.meta.url), 'utf8');

/**
 * The API documentation for programs and for people, and the client for browsers.
 * @param ownOrigin the origin under which clients reach the server
 * @param withExplorer false in production and with a live key, because its requests are real
 */
export function apiDocsRoutes(ownOrigin: () => string, withExplorer: boolean): Router {
  const swaggerUi = withExplorer ? findSwaggerUi() : null;
  const pageOf = () =>
    `<!doctype html>${renderToString(<Page {...apiDocument(ownOrigin())} hasExplorer={swaggerUi !== null} />)}`;
  const router = Router();
  router.get('/openapi.json', (_req, res) => res.json(apiDocument(ownOrigin())));
  router.get('/docs', (_req, res) => res.send(pageOf()));
  // Pages of other sites load the client as a module.
  router.get('/client.js', (_req, res) => res.set('access-control-allow-origin', '*').type('js').send(client));
  router.get('/problems/:type', ({ params }, res) => {
    res.redirect(`/docs#${params.type}`);
  });
  if (swaggerUi !== null) router.use(explorerRoutes(swaggerUi, ownOrigin));
  return router;
}

type PageProps = ReturnType<typeof apiDocument> & { hasExplorer: boolean };

function Page({ info, paths, webhooks, 'x-problems': problems, hasExplorer }: PageProps): VNode {
  const parts = {
    Calls: Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, one]) => <Part at={`${method.toUpperCase()} ${path}`} {...one} />),
    ),
    'Messages to FULFILMENT_URL': Object.entries(webhooks).map(([type, { post }]) => <Part at={type} {...post} />),
    Errors: Object.entries(problems).map(([type, { status, title }]) => (
      <p id={type}>{`${status} ${type}: ${title}.`}</p>
    )),
  };
  return (
    <html lang="en">
      <head>
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>{info.title}</title>
        <link rel="stylesheet" href="/style.css" />
      </head>
      <main>
        <h1>{info.title}</h1>
        <p>{info.description}</p>
        <p>
          For programs: <a href="/openapi.json">openapi.json</a>. For browsers: <a href="/client.js">client.js</a>.
          {hasExplorer && [' To send requests: ', <a href="/docs/explorer">API explorer</a>, '.']}
        </p>
        {Object.entries(parts).map(([title, part]) => (
          <section>
            <h2>{title}</h2>
            {part}
          </section>
        ))}
      </main>
    </html>
  );
}

/** A call or a message. It is collapsed at first. */
function Part({ at, ...operation }: { at: string } & Operation): VNode {
  const {
    operationId,
    summary,
    description,
    parameters,
    security: [token = {}] = [],
    requestBody,
    responses,
  } = operation;
  const details = description.slice(summary.length + 1).trim();
  const example = requestBody?.content['application/json'].example;
  const bodies = [['takes', requestBody] as const, ...Object.entries(responses)];
  const contents = Object.values(responses).flatMap(({ content }) => content?.['application/json'] ?? []);
  const answers = contents.flatMap((one) => one.example ?? []).slice(0, 1);
  const errors = [...JSON.stringify(responses).matchAll(/problems\/([\w-]+)/g)].map(([, type = '']) => type);
  const shapes = [
    Object.keys(token).map((name) => `authorization: Bearer $${name}`),
    parameters.map((one) => `${one.name} (${one.in}): ${one.description ?? shapeOf(one.schema)}`),
    bodies.flatMap(([what, { content } = {}]) => {
      const json = content?.['application/json'];
      return json ? `${what} ${shapeOf(json.schema)}` : [];
    }),
    example ? `Example: ${JSON.stringify(example, null, 2)}` : [],
    answers.map((one) => `Example of an answer: ${JSON.stringify(one, null, 2)}`),
  ];
  return (
    <details id={operationId}>
      <summary>{`${at}: ${summary}`}</summary>
      <p>{details}</p>
      <pre>{shapes.flat().join('\n\n')}</pre>
      <p>{errors.flatMap((type) => [<a href={`#${type}`}>{type}</a>, ' '])}</p>
    </details>
  );
}

/** A schema in TypeScript notation, with the description of each field. */
function shapeOf(schema: Schema, indent = '\n'): string {
  const { type, properties, required = [], items, anyOf, enum: words, const: only } = schema;
  if (anyOf) return anyOf.map((one) => shapeOf(one, indent)).join(' | ');
  if (words ?? only) return (words ?? [only]).map((one) => JSON.stringify(one)).join(' | ');
  if (items) return `${shapeOf(items as Schema, indent)}[]`;
  if (!properties) return [type].flat().join(' | ');
  const fields = Object.entries(properties as Record<string, Schema>).map(([name, field]) => {
    const meaning = field.description ? ` // ${field.description}` : '';
    return `${indent}  ${name}${required.includes(name) ? '' : '?'}: ${shapeOf(field, `${indent}  `)}${meaning}`;
  });
  return `{${fields.join('')}${indent}}`;
}
