import type { VNode } from 'preact';
import { Page } from '../platform/html.tsx';
import { PROBLEMS, type ProblemType } from '../platform/problem-types.ts';
import type { Operation } from './operation.ts';
import { OPERATIONS } from './operations.ts';
import { SCHEMAS, type SchemaName } from './schemas.ts';
import type { z } from 'zod';
import { fieldsOf } from './schema-fields.ts';
import { WEBHOOKS } from './webhooks.ts';

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
          <a href="/problems">refusals</a>
        </p>
      </header>
      <main>
        <nav aria-label="Routes">
          <ul class="plain">
            {OPERATIONS.map(({ id, method, path, summary }) => (
              <li key={id}>
                <a href={`#${id}`}>
                  <code>
                    {method.toUpperCase()} {path}
                  </code>
                </a>{' '}
                {summary}
              </li>
            ))}
          </ul>
        </nav>
        {OPERATIONS.map((operation) => (
          <Route key={operation.id} operation={operation} origin={origin} />
        ))}
        <section aria-labelledby="webhooks">
          <h2 id="webhooks">What is sent to FULFILMENT_URL</h2>
          <p>
            <code>order.paid</code>, and of the others those that FULFILMENT_EVENTS names: each at least once,
            with the same <code>webhook-id</code> and the same bytes, signed as Standard Webhooks say.
            Messages of one order come one after the other.
          </p>
          <dl class="facts">
            {WEBHOOKS.map(({ type, summary }) => (
              <div key={type}>
                <dt>
                  <a href={`#schema-${type}`}>{type}</a>
                </dt>
                <dd>{summary}</dd>
              </div>
            ))}
          </dl>
        </section>
        {(Object.keys(SCHEMAS) as SchemaName[]).map((name) => (
          <Schema key={name} name={name} schema={SCHEMAS[name]} />
        ))}
        {WEBHOOKS.map(({ type, schema }) => (
          <Schema key={type} name={type} schema={schema} />
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
      <p>{description}</p>
      {token && <p>Needs {token === 'adminToken' ? 'ADMIN_TOKEN' : 'SHOP_API_TOKEN'} as a bearer token.</p>}
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
          Refuses with:{' '}
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

function Fact({ term, text, schema }: { term: string; text: string; schema?: SchemaName | null }): VNode {
  return (
    <div>
      <dt>{term}</dt>
      <dd>
        {schema && <a href={`#schema-${schema}`}>{schema}</a>} {text}
      </dd>
    </div>
  );
}

function Schema({ name, schema }: { name: string; schema: z.ZodType }): VNode {
  return (
    <section id={`schema-${name}`} aria-labelledby={`schema-${name}-title`}>
      <h2 id={`schema-${name}-title`}>{name}</h2>
      <div class="scroll" tabIndex={0} role="region" aria-label={`Fields of ${name}`}>
        <table>
          <thead>
            <tr>
              <th scope="col">Field</th>
              <th scope="col">Type</th>
              <th scope="col">Meaning</th>
            </tr>
          </thead>
          <tbody>
            {fieldsOf(schema).map(({ path, type, meaning }) => (
              <tr key={path}>
                <td>
                  <code>{path}</code>
                </td>
                <td>{type}</td>
                <td>{meaning}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}

/** All refusals, or one of them: the page that the `type` of a problem document links to. */
export function ProblemsPage({ types }: { types: readonly ProblemType[] }): VNode {
  const [only] = types;
  const title = types.length === 1 && only !== undefined ? PROBLEMS[only].title : 'Refusals';
  return (
    <Page title={title} stylesheet="/admin/admin.css">
      <header>
        <h1>{types.length === 1 ? 'Refusal' : 'Refusals'}</h1>
        <p>
          <a href="/docs">The interface</a>
          {types.length === 1 && (
            <>
              {' '}
              · <a href="/problems">All refusals</a>
            </>
          )}
        </p>
      </header>
      <main>
        {types.map((type) => (
          <section key={type} id={type} aria-labelledby={`${type}-title`}>
            <h2 id={`${type}-title`}>{PROBLEMS[type].title}</h2>
            <p>
              <code>
                {PROBLEMS[type].status} {type}
              </code>
            </p>
            <dl class="facts">
              <Fact term="cause" text={PROBLEMS[type].cause} />
              <Fact term="cure" text={PROBLEMS[type].cure} />
            </dl>
          </section>
        ))}
      </main>
    </Page>
  );
}
