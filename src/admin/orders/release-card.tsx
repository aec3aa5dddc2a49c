import type { VNode } from 'preact';
import { Allowed, FormToken, WhoAndWhy, type Frame } from '../layout/frame.tsx';
import { Status } from '../layout/parts.tsx';
import type { ReleaseRow } from '../releases/releases.sql.ts';

/** The release of an order, and the form that delivers it again. */
export function ReleaseCard({ frame, release }: { frame: Frame; release: ReleaseRow }): VNode {
  const { id, orderId, delivery, attempts, lastError } = release;
  return (
    <section aria-labelledby="release">
      <h2 id="release">Release</h2>
      <p>
        <code>{id}</code> <Status word={delivery} /> {attempts} deliveries
        {lastError === null ? '' : `, last error: ${lastError}`}
      </p>
      <Allowed visitor={frame.visitor} action="releases">
        <form method="post" action="/admin/releases" class="action">
          <FormToken visitor={frame.visitor} />
          <input type="hidden" name="id" value={id} />
          <input type="hidden" name="order" value={orderId} />
          <WhoAndWhy visitor={frame.visitor} id="redeliver" />
          <p class="field">
            <button>Deliver again</button>
          </p>
        </form>
      </Allowed>
    </section>
  );
}
