import type { VNode } from 'preact';

/** Stands above every page, so that nobody takes the sandbox for the real thing. */
export function Ribbon(): VNode {
  return (
    <p class="ribbon">
      <strong>Sandbox</strong> · no real money
    </p>
  );
}
