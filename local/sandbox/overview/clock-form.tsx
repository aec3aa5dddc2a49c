import type { VNode } from 'preact';

/** The hand on the service's clock. */
export function ClockForm({ now, aheadMs }: { now: Date; aheadMs: number }): VNode {
  return (
    <section aria-labelledby="clock">
      <h2 id="clock">Clock</h2>
      <p class="lead">
        It shows <time dateTime={now.toISOString()}>{now.toISOString().slice(0, 19).replace('T', ' ')}</time>{' '}
        UTC{aheadMs > 0 && `, ${Math.round(aheadMs / 3_600_000)} hours ahead`}. Records, answers and
        signatures take their times from it, and a lock-out ends by it. The shop’s own times are its
        database’s and do not move. A reset sets it right.
      </p>
      <form class="line" method="post" action="/clock">
        <label class="short">
          Hours
          <input name="hours" type="number" inputMode="numeric" min="1" max="8760" value="1" required />
        </label>
        <button class="button secondary" type="submit">
          Move it forward
        </button>
      </form>
    </section>
  );
}
