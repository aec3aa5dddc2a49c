import type { VNode } from 'preact';

/** Stands above every page, so that nobody takes the sandbox for the real thing. */
export function Ribbon(): VNode {
  return (
    <aside class="ribbon" aria-label="What this is">
      <strong>Sandbox</strong> · no real money
    </aside>
  );
}
