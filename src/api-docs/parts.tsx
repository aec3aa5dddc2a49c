import type { VNode } from 'preact';
import { type SchemaName, SCHEMAS, WEBHOOKS } from './openapi-schemas.ts';
import { OPERATIONS } from './operations.ts';

/** A sentence in which names stand between backticks. */
export function Prose({ text }: { text: string }): VNode {
  return <>{text.split('`').map((part, at) => (at % 2 === 1 ? <code key={at}>{part}</code> : part))}</>;
}

/** What something is, and what is said of it, with its fields. */
export function Fact({
  term,
  text,
  schema,
}: {
  term: string;
  text: string;
  schema?: SchemaName | null;
}): VNode {
  return (
    <div>
      <dt>{term}</dt>
      <dd>
        {schema && <a href={`#schema-${schema}`}>{schema}</a>} <Prose text={text} />
      </dd>
    </div>
  );
}

/** Text to copy. */
export function Example({ text, of }: { text: string; of: string }): VNode {
  return (
    <pre class="scroll" tabIndex={0} role="region" aria-label={`Example of ${of}`}>
      {text}
    </pre>
  );
}

/** Everything on the page, by what one is about. */
export function Menu(): VNode {
  const tags = [...new Set(OPERATIONS.map(({ tag }) => tag))];
  return (
    <nav aria-label="Contents" id="contents">
      {tags.map((tag) => (
        <section key={tag} aria-label={tag}>
          <h2>{tag}</h2>
          <ul class="plain">
            {OPERATIONS.filter((one) => one.tag === tag).map(({ id, method, path, summary }) => (
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
        </section>
      ))}
      <section aria-label="Messages to your system">
        <h2>Messages to your system</h2>
        <ul class="plain">
          {WEBHOOKS.map(({ type, summary }) => (
            <li key={type}>
              <a href={`#schema-${type}`}>
                <code>{type}</code>
              </a>{' '}
              {summary}
            </li>
          ))}
        </ul>
      </section>
      <p>
        Fields:{' '}
        {Object.keys(SCHEMAS).map((name) => (
          <span key={name}>
            <a href={`#schema-${name}`}>{name}</a>{' '}
          </span>
        ))}
      </p>
    </nav>
  );
}
