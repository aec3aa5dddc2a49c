import type { VNode } from 'preact';
import { Page } from '../../platform/html.tsx';
import type { ProblemWording } from '../../platform/problem.ts';

/** What went wrong, for an operator. */
export function ProblemPage({ title, lines }: ProblemWording): VNode {
  return (
    <Page title={title} stylesheet="/admin/admin.css">
      <main class="narrow">
        <h1>{title}</h1>
        {lines.map((line) => (
          <p key={line}>{line}</p>
        ))}
        <p>
          <a href="/admin">Back to the beginning</a>
        </p>
      </main>
    </Page>
  );
}
