import type { VNode } from 'preact';

type Tab = { name: string; address: string; isHere: boolean };

/** Views of one list. */
export function Tabs({ label, tabs }: { label: string; tabs: readonly Tab[] }): VNode {
  return (
    <nav aria-label={label} class="tabs">
      <ul>
        {tabs.map(({ name, address, isHere }) => (
          <li key={name}>
            <a href={address} aria-current={isHere ? 'page' : undefined}>
              {name}
            </a>
          </li>
        ))}
      </ul>
    </nav>
  );
}
