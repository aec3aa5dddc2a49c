import type { VNode } from 'preact';
import type { ProblemWording } from '../platform/problem.ts';
import type { Branding } from './branding.ts';
import { Frame } from './frame.tsx';

type ProblemPageProps = ProblemWording & { branding: Branding };

/** What went wrong, for a shopper: a form that was rejected, an address that does not exist. */
export function ProblemPage({ title, lines, branding }: ProblemPageProps): VNode {
  return (
    <Frame title={title} branding={branding}>
      <div class="intro">
        <h1>{title}</h1>
        {lines.map((line) => (
          <p class="lead" key={line}>
            {line}
          </p>
        ))}
        {branding.homeUrl !== null && (
          <p>
            <a href={branding.homeUrl}>Back to the shop</a>
          </p>
        )}
      </div>
    </Frame>
  );
}
