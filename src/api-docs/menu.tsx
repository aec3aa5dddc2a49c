import type { VNode } from 'preact';
import { OPERATIONS } from './operations.ts';
import { SCHEMAS } from './schemas.ts';
import { WEBHOOKS } from './webhooks.ts';

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
