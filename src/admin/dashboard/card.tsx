import type { ComponentChildren, VNode } from 'preact';

type CardProps = {
  id: string;
  title: string;
  href?: string;
  isRaised?: boolean;
  children: ComponentChildren;
};

/** One topic of the dashboard; raised when an operator has to act. */
export function Card({ id, title, href, isRaised = false, children }: CardProps): VNode {
  return (
    <section aria-labelledby={id} class={isRaised ? 'raised' : ''}>
      <h2 id={id}>{href === undefined ? title : <a href={href}>{title}</a>}</h2>
      {children}
    </section>
  );
}
