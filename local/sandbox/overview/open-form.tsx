import type { VNode } from 'preact';

/** A checkout without an integrator: for whoever builds a storefront and has no backend yet. */
export function OpenForm({ redirectUrl }: { redirectUrl: string }): VNode {
  return (
    <section aria-labelledby="open">
      <h2 id="open">Open a checkout by hand</h2>
      <p class="lead">
        As a backend would do it by the call below, in test mode: you come to the hosted page, and from there
        to the address you name, with whatever this kind of service adds to it.
      </p>
      <form class="line" method="post" action="/open">
        <label class="short">
          Amount
          <input name="amount" inputMode="decimal" value="25.00" required />
        </label>
        <label class="short">
          Currency
          <input name="currency" value="NGN" maxLength={3} required />
        </label>
        <label>
          Send the shopper back to
          <input name="redirectUrl" type="url" value={redirectUrl} required />
        </label>
        <button class="button secondary" type="submit">
          Open it
        </button>
      </form>
    </section>
  );
}
