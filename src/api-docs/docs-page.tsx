import type { ComponentChildren, VNode } from 'preact';
import { Page } from '../platform/html.tsx';
import { PROBLEMS, type ProblemType } from '../platform/problem-types.ts';
import { curlOf, type Operation } from './operation.ts';
import { OPERATIONS } from './operations.ts';
import { Example, Fact, Prose, Menu } from './parts.tsx';
import { SCHEMAS, type SchemaName, fieldsOf, exampleOf, WEBHOOKS } from './openapi-schemas.ts';
import type { z } from 'zod';

/**
 * The description of the interface, for people. The server renders it, so that it needs no script and
 * loads nothing from elsewhere.
 */
export function DocsPage({ origin }: { origin: string }): VNode {
  return (
    <Page title="The interface" stylesheet="/admin/admin.css">
      <header>
        <h1>The interface</h1>
        <p>
          <a href="/openapi.json">openapi.json</a> · <a href="/docs/example">a storefront in one page</a> ·{' '}
          <a href="/problems">errors</a>
        </p>
      </header>
      <main>
        <Menu />
        {OPERATIONS.map((operation) => (
          <Route key={operation.id} operation={operation} origin={origin} />
        ))}
        <section aria-labelledby="webhooks">
          <h2 id="webhooks">What your system is sent</h2>
          <p>
            A signed POST to FULFILMENT_URL: <code>order.paid</code>, and of the others those that
            FULFILMENT_EVENTS names. Each comes at least once, with the same <code>webhook-id</code> and the
            same bytes, signed as Standard Webhooks say. Messages of one order come one after the other.
          </p>
        </section>
        {WEBHOOKS.map(({ type, summary, schema }) => (
          <Schema key={type} name={type} schema={schema}>
            <p>{summary}</p>
            <Example
              text={JSON.stringify(exampleOf(schema, [type.split('.')[1] ?? '', 'paid']), null, 2)}
              of={type}
            />
          </Schema>
        ))}
        {(Object.keys(SCHEMAS) as SchemaName[]).map((name) => (
          <Schema key={name} name={name} schema={SCHEMAS[name]} />
        ))}
      </main>
    </Page>
  );
}

function Route({ operation, origin }: { operation: Operation; origin: string }): VNode {
  const {
    id,
    method,
    path,
    summary,
    description,
    parameters = [],
    body,
    success,
    problems,
    token,
  } = operation;
  return (
    <section id={id} aria-labelledby={`${id}-title`}>
      <h2 id={`${id}-title`}>{summary}</h2>
      <p>
        <code>
          {method.toUpperCase()} {origin}
          {path}
        </code>
      </p>
      <p>
        <Prose text={description} />
      </p>
      {token && <p>Needs {token === 'adminToken' ? 'ADMIN_TOKEN' : 'SHOP_API_TOKEN'} as a bearer token.</p>}
      <Example text={curlOf(operation, origin)} of={summary} />
      <dl class="facts">
        {parameters.map(({ name, in: place, description: text }) => (
          <Fact key={name} term={`${name} (${place})`} text={text} />
        ))}
        {body && <Fact term="takes" text={body.contentTypes.join(' or ')} schema={body.schema} />}
        <Fact
          term={`gives ${success.status}`}
          text={success.contentType ?? (success.isList ? 'a list' : '')}
          schema={success.schema ?? null}
        />
      </dl>
      {problems.length > 0 && (
        <p>
          Errors:{' '}
          {problems.map((type) => (
            <span key={type}>
              <a href={`/problems/${type}`}>
                {PROBLEMS[type].status} {type}
              </a>{' '}
            </span>
          ))}
        </p>
      )}
    </section>
  );
}

type SchemaProps = { name: string; schema: z.ZodType; children?: ComponentChildren };

function Schema({ name, schema, children }: SchemaProps): VNode {
  const fields = fieldsOf(schema);
  const hasMeanings = fields.some(({ meaning }) => meaning !== '');
  return (
    <section id={`schema-${name}`} aria-labelledby={`schema-${name}-title`}>
      <h2 id={`schema-${name}-title`}>{name}</h2>
      {children}
      <div class="scroll" tabIndex={0} role="region" aria-label={`Fields of ${name}`}>
        <table>
          <thead>
            <tr>
              <th scope="col">Field</th>
              <th scope="col">Type</th>
              {hasMeanings && <th scope="col">Meaning</th>}
            </tr>
          </thead>
          <tbody>
            {fields.map(({ path, type, meaning }) => (
              <tr key={path}>
                <td>
                  <code>{path}</code>
                </td>
                <td>{type}</td>
                {hasMeanings && (
                  <td>
                    <Prose text={meaning} />
                  </td>
                )}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}

/** All errors, or one of them: the page that the `type` of a problem document links to. */
export function ProblemsPage({ types }: { types: readonly ProblemType[] }): VNode {
  const [only] = types;
  const title = types.length === 1 && only !== undefined ? PROBLEMS[only].title : 'Errors';
  return (
    <Page title={title} stylesheet="/admin/admin.css">
      <header>
        <h1>{types.length === 1 ? 'Error' : 'Errors'}</h1>
        <p>
          <a href="/docs">The interface</a>
          {types.length === 1 && (
            <>
              {' '}
              · <a href="/problems">All errors</a>
            </>
          )}
        </p>
      </header>
      <main>
        {types.length > 1 && (
          <nav aria-label="Errors">
            <ul class="plain">
              {types.map((type) => (
                <li key={type}>
                  <a href={`#${type}`}>
                    <code>
                      {PROBLEMS[type].status} {type}
                    </code>
                  </a>{' '}
                  {PROBLEMS[type].title}
                </li>
              ))}
            </ul>
          </nav>
        )}
        {types.map((type) => (
          <section key={type} id={type} aria-labelledby={`${type}-title`}>
            <h2 id={`${type}-title`}>{PROBLEMS[type].title}</h2>
            <p>
              <code>
                {PROBLEMS[type].status} {type}
              </code>
            </p>
            <dl class="facts">
              <Fact term="Cause" text={PROBLEMS[type].cause} />
              <Fact term="What to do" text={PROBLEMS[type].cure} />
            </dl>
          </section>
        ))}
      </main>
    </Page>
  );
}
