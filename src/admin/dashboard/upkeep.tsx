import type { VNode } from 'preact';
import { span } from '../layout/parts.tsx';
import { Card } from './card.tsx';

/** The last check of all journals. */
export type LastCheck = { agoSec: number; orders: bigint; contradictions: bigint };

/** This server leaves scheduled work to a worker, and none is running. */
export function NoWorker(): VNode {
  return (
    <p class="alarm" role="status">
      No worker is running, and this server leaves the scheduled checks to one (<code>WORKER=off</code>):
      payments are not checked and releases not delivered. Type: <code>npm run worker</code>
    </p>
  );
}

/** Was any row changed by other means than this program? */
export function Journals({ integrity }: { integrity: LastCheck | null }): VNode {
  const isBroken = integrity !== null && integrity.contradictions > 0n;
  return (
    <Card id="journals" title="Journals" isRaised={isBroken}>
      {integrity === null ? (
        <p class="none">Not checked yet.</p>
      ) : (
        <p>
          {integrity.orders.toLocaleString('en')} orders were checked {span(integrity.agoSec)} ago.
        </p>
      )}
      {isBroken && (
        <p class="alarm">
          {integrity.contradictions.toLocaleString('en')} rows were changed by other means:{' '}
          <code>npm run explain -- --all</code>
        </p>
      )}
    </Card>
  );
}
