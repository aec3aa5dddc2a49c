import type { ComponentChildren, VNode } from 'preact';
import { Page } from '../../platform/html.tsx';
import { UNSEEN_SEC } from '../../platform/database/reads.ts';
import { span } from '../../platform/locale.ts';
import type { Mode } from '../../platform/mode.ts';
import type { ActionForm } from '../action-form.ts';
import type { Visitor } from '../login/guard.ts';
import { Button, Field } from './parts.tsx';
import type { ProblemWording } from '../../platform/problem.ts';

/**
 * What every page of operations shows: who is logged in, at which shop, in which mode, what the last form
 * did.
 */
export type Frame = {
  visitor: Visitor;
  shop: string;
  mode: Mode;
  told: string | null;
  /** How far the database is behind from which the page was read. */
  behindSec?: number;
};

const NAVIGATION = {
  '/admin': 'Today',
  '/admin/cases': 'To do',
  '/admin/orders': 'Orders',
  '/admin/releases': 'Deliveries',
  '/admin/webhooks': 'Webhooks',
  '/admin/runs': 'Reconciliations',
  '/admin/charts': 'Charts',
  '/admin/books': 'Books',
  '/admin/activity': 'Activity',
} as const;

type Props = {
  frame: Frame;
  title: string;
  /** Which entry of the navigation the page belongs to; null: to none. */
  here: keyof typeof NAVIGATION | null;
  children: ComponentChildren;
};

export function AdminPage({ frame, title, here, children }: Props): VNode {
  const { visitor, shop, mode, told, behindSec = 0 } = frame;
  return (
    <Page title={`${title} · ${shop} admin`} stylesheet="/admin/admin.css">
      <a class="skip" href="#main">
        To the content
      </a>
      <header class="bar">
        <Navigation here={here} />
        <p class={`badge ${mode}`}>{mode} mode</p>
        {visitor.isNamed && <p>{visitor.name}</p>}
        {visitor.hasSession && (
          <form method="post" action="/admin/logout">
            <FormToken visitor={visitor} />
            <button class="quiet">Log out</button>
          </form>
        )}
      </header>
      <main id="main">
        <h1>{title}</h1>
        {told !== null && (
          <p class="told" role="status">
            {told}
          </p>
        )}
        {behindSec > UNSEEN_SEC && (
          <p class="told behind">
            This page is read from a standby that is {span(behindSec)} behind. What you do here is decided by
            the newest state.
          </p>
        )}
        {children}
      </main>
    </Page>
  );
}

/**
 * On a narrow screen a menu, which opens without a script: the list stands beside it, and shows while it is
 * open.
 */
function Navigation({ here }: Pick<Props, 'here'>): VNode {
  return (
    <nav aria-label="Pages">
      <details>
        <summary>Menu</summary>
      </details>
      <ul>
        {Object.entries(NAVIGATION).map(([address, name]) => (
          <li key={address}>
            <a href={address} aria-current={address === here ? 'page' : undefined}>
              {name}
            </a>
          </li>
        ))}
      </ul>
    </nav>
  );
}

/** What only a visitor may see whose role may do the action. */
export function Allowed(props: { visitor: Visitor; action: string; children: ComponentChildren }): VNode {
  return <>{props.visitor.may(props.action) && props.children}</>;
}

/** The token that every form with an action must contain. */
export function FormToken({ visitor }: { visitor: Visitor }): VNode {
  return <input type="hidden" name="form" value={visitor.formToken} />;
}

/** What a person typed into a form that is shown again. */
type Typed = { by: string; note: string };

/** Who does it. */
export function Who({ visitor, id, typed }: { visitor: Visitor; id: string; typed?: Typed | null }): VNode {
  if (visitor.isNamed) return <p class="field">Signed by {visitor.name}</p>;
  const name = typed?.by ?? visitor.name;
  const by = { name: 'by', required: true, maxLength: 80, value: name, autocomplete: 'name' };
  return <Field id={`${id}-by`} label="Your name" {...by} />;
}

/** Who does it, and why: every action needs both. */
export function WhoAndWhy(props: { visitor: Visitor; id: string; typed?: Typed | null }): VNode {
  const { id, typed } = props;
  return (
    <>
      <Who {...props} />
      <Field
        id={`${id}-note`}
        label="Why, in a sentence"
        width="wide"
        name="note"
        required
        maxLength={500}
        autocomplete="off"
        value={typed?.note}
      />
    </>
  );
}

type ActionProps = {
  visitor: Visitor;
  /** Where the form is sent. */
  address: string;
  /** The row that the action is about; left out where a field of the form says it. */
  about?: string;
  /** Distinguishes its fields from those of other forms. */
  id: string;
  button: string;
  operation?: string;
  isQuiet?: boolean;
  /** Further fields. */
  children?: ComponentChildren;
};

/** A form for one action: what it is about, who does it, and why. */
export function Action(props: ActionProps): VNode {
  const { visitor, address, about, id, button, operation, isQuiet, children } = props;
  return (
    <form method="post" action={address} class="action">
      <FormToken visitor={visitor} />
      {about !== undefined && <input type="hidden" name="id" value={about} />}
      {children}
      <WhoAndWhy visitor={visitor} id={id} />
      <Button name={operation && 'operation'} value={operation} isQuiet={isQuiet}>
        {button}
      </Button>
    </form>
  );
}

type ConfirmProps = { visitor: Visitor; address: string; form: ActionForm; button: string; back?: VNode };

/** Sends a form again, now that the person has seen what it does. */
export function Confirm({ visitor, address, form, button, back }: ConfirmProps): VNode {
  const sent = form.sent.filter(([name]) => name !== 'sure' && name !== 'back');
  return (
    <form method="post" action={address} class="action">
      <FormToken visitor={visitor} />
      {sent.map(([name, value], at) => (
        <input key={at} type="hidden" name={name} value={value} />
      ))}
      <Button name="sure" value="yes">
        {button}
      </Button>
      {back}
    </form>
  );
}

/** Names and what they are; what is null is left out. */
export function Facts({ facts }: { facts: Readonly<Record<string, ComponentChildren>> }): VNode {
  return (
    <dl class="facts">
      {Object.entries(facts).map(
        ([name, fact]) =>
          fact !== null && fact !== undefined && [<dt key={name}>{name}</dt>, <dd>{fact}</dd>],
      )}
    </dl>
  );
}

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
