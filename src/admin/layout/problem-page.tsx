import type { VNode } from 'preact';
import { Page } from '../../platform/html.tsx';
import type { ProblemWording } from '../../platform/problem.ts';
import { AdminPage, type Frame } from './frame.tsx';

/** What went wrong, for an operator, with a way on. A visitor who is not logged in gets no navigation. */
export function ProblemPage({ title, lines, frame }: ProblemWording & { frame?: Frame }): VNode {
  const body = (
    <>
      {lines.map((line) => (
        <p key={line}>{line}</p>
      ))}
      <p>
        <a href="/admin/orders">Search orders</a> · <a href="/admin">Today</a>
      </p>
    </>
  );
  if (frame?.visitor.isAllowed === true)
    return (
      <AdminPage frame={frame} title={title} here={null}>
        {body}
      </AdminPage>
    );
  return (
    <Page title={title} stylesheet="/admin/admin.css">
      <main class="narrow">
        <h1>{title}</h1>
        {body}
      </main>
    </Page>
  );
}
