import type { VNode } from 'preact';
import { Page } from '../platform/html.tsx';
import { PROBLEMS, type ProblemType } from '../platform/problem-types.ts';
import { Fact } from './parts.tsx';

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
