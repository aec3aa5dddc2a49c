import type { ComponentChildren, VNode } from 'preact';

import { Page } from '../../../src/platform/html.tsx';
import { amountOnRecord } from '../assumptions.ts';
import type { State, Transaction } from '../ledger/transaction.ts';
import { Amount, AmountText } from '../pages/amount.tsx';
import { Ribbon } from '../pages/ribbon.tsx';
import { STYLESHEET_PATH } from '../pages/stylesheet.ts';
import type { SetFault } from '../faults/book.ts';
import { DeckForm } from './deck-form.tsx';

export type CheckoutProps = {
  transaction: Transaction;
  /** Whether the page still takes money. */
  isOpen: boolean;
  /** Null: this kind of service leads nobody back. */
  returnAddress: string | null;
  /** Faults that will befall this transaction. */
  inTheAir: readonly SetFault[];
};

/** What the shopper sees: a decision to take, or the one that was taken. */
export function CheckoutPage(props: CheckoutProps): VNode {
  const { transaction, isOpen } = props;
  const { asked } = transaction;
  const title = [HEADINGS[transaction.state], ' · ', <AmountText key="amount" money={asked} />];
  return (
    <Page title={title} stylesheet={STYLESHEET_PATH}>
      <Ribbon />
      <main class="card">{isOpen ? <Open {...props} /> : <Decided {...props} />}</main>
    </Page>
  );
}

const HEADINGS: Record<State, string> = {
  pending: 'Checkout',
  'in-review': 'Payment under review',
  abandoned: 'Checkout',
  paid: 'Payment received',
  failed: 'Payment failed',
  cancelled: 'Payment cancelled',
  expired: 'Checkout expired',
  reversed: 'Payment reversed',
};

function Open({ transaction, inTheAir }: CheckoutProps): VNode {
  return (
    <>
      <h1>{HEADINGS.pending}</h1>
      <p class="total">
        <Amount money={transaction.asked} />
      </p>
      <Details transaction={transaction} />
      <div class="choices">
        <Choice token={transaction.token} deed="pay" look="primary">
          Pay <AmountText money={transaction.asked} />
        </Choice>
        <Choice token={transaction.token} deed="fail" look="secondary">
          Let it fail
        </Choice>
        <Choice token={transaction.token} deed="leave" look="quiet">
          Leave without paying
        </Choice>
      </div>
      <p class="note">
        You play the shopper’s bank: <em>Pay</em> approves, <em>Let it fail</em> declines, <em>Leave</em> goes
        back to the shop with nothing decided.
      </p>
      <DeckForm token={transaction.token} inTheAir={inTheAir} />
    </>
  );
}

function Decided({ transaction, returnAddress }: CheckoutProps): VNode {
  return (
    <>
      <h1 class={`outcome ${transaction.state}`}>{HEADINGS[transaction.state]}</h1>
      <p class="total">
        <Amount money={amountOnRecord(transaction)} />
      </p>
      <Details transaction={transaction} />
      {returnAddress !== null && (
        <div class="choices">
          <a class="button primary" href={returnAddress}>
            Return to the shop
          </a>
        </div>
      )}
      <p class="note">This checkout is closed: nothing on this page pays again.</p>
    </>
  );
}

function Details({ transaction }: { transaction: Transaction }): VNode {
  const { reference, email, mode, asked, payments } = transaction;
  return (
    <dl class="details">
      <dt>Reference</dt>
      <dd class="code">{reference}</dd>
      <dt>Payer</dt>
      <dd>{email}</dd>
      <dt>Mode</dt>
      <dd>{mode === 'test' ? 'Test' : 'Live (of the sandbox)'}</dd>
      {payments.length > 0 && (
        <>
          <dt>Asked for</dt>
          <dd>
            <Amount money={asked} />
          </dd>
          <dt>Paid</dt>
          <dd>{payments.length === 1 ? 'once' : `${payments.length} times`}</dd>
        </>
      )}
    </dl>
  );
}

type ChoiceProps = {
  token: string;
  deed: 'pay' | 'fail' | 'leave';
  look: 'primary' | 'secondary' | 'quiet';
  children: ComponentChildren;
};

/** A form of its own per button: works by keyboard, by screen reader and without any script. */
function Choice({ token, deed, look, children }: ChoiceProps): VNode {
  return (
    <form method="post" action={`/checkout/${token}/${deed}`}>
      <button class={`button ${look}`} type="submit">
        {children}
      </button>
    </form>
  );
}
