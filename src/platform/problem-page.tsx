import type { VNode } from 'preact';
import { Page } from './html.tsx';

/** What went wrong, for a person. @param lines what to mend, one sentence each */
export function ProblemPage(props: { title: string; lines: readonly string[]; stylesheet: string }): VNode {
  const { title, lines, stylesheet } = props;
  return (
    <Page title={title} stylesheet={stylesheet}>
      <main class="narrow">
        <h1>{title}</h1>
        {lines.map((line) => (
          <p key={line}>{line}</p>
        ))}
        <p>
          <a href="/">Back to the beginning</a>
        </p>
      </main>
    </Page>
  );
}
