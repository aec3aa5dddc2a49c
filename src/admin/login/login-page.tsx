import type { VNode } from 'preact';
import { Page } from '../../platform/html.tsx';
import type { Mode } from '../../platform/mode.ts';

type LoginProps = {
  shop: string;
  mode: Mode;
  /** Where the login leads. */
  to: string;
  /** Why the last attempt failed; null: there was none. */
  fault: string | null;
};

export function LoginPage({ shop, mode, to, fault }: LoginProps): VNode {
  return (
    <Page title={`Log in · ${shop} admin`} stylesheet="/admin/admin.css">
      <main class="narrow">
        <h1>{shop}</h1>
        <p>
          Admin <span class={`badge ${mode}`}>{mode} mode</span>
        </p>
        {fault !== null && (
          <p class="alarm" role="alert">
            {fault}
          </p>
        )}
        <form method="post" action="/admin/login" class="stack">
          <input type="hidden" name="to" value={to} />
          <label for="token">Your token</label>
          <input id="token" name="token" type="password" required autocomplete="current-password" />
          <button>Log in</button>
        </form>
      </main>
    </Page>
  );
}

/** For a form that none of our pages sent, or that is older than the login. */
export function StaleFormPage(): VNode {
  return (
    <Page title="Nothing was done" stylesheet="/admin/admin.css">
      <main class="narrow">
        <h1>Nothing was done</h1>
        <p>The form was not sent from a page of this login. Open the page again and repeat it.</p>
        <p>
          <a href="/admin">Today</a>
        </p>
      </main>
    </Page>
  );
}
