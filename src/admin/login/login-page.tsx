import type { VNode } from 'preact';
import { Page } from '../../platform/html.tsx';

/** @param fault why the last attempt failed; null: there was none */
export function LoginPage({ fault }: { fault: string | null }): VNode {
  return (
    <Page title="Log in" stylesheet="/admin/admin.css">
      <main class="narrow">
        <h1>Operations</h1>
        {fault !== null && (
          <p class="alarm" role="alert">
            {fault}
          </p>
        )}
        <form method="post" action="/admin/login" class="stack">
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
    <Page title="Not done" stylesheet="/admin/admin.css">
      <main class="narrow">
        <h1>Nothing was done</h1>
        <p>
          The form was not sent from a page of this login. Open the page again and repeat it:{' '}
          <a href="/admin">operations</a>.
        </p>
      </main>
    </Page>
  );
}
