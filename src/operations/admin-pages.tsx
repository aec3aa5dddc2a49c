import type { VNode } from 'preact';
import { Page } from '../platform/html.tsx';

export function LoginPage({ isWrong }: { isWrong: boolean }): VNode {
  return (
    <Page title="Log in" stylesheet="/admin/admin.css">
      <main class="narrow">
        <h1>Operations</h1>
        {isWrong && (
          <p class="alarm" role="alert">
            That is not the admin token.
          </p>
        )}
        <form method="post" action="/admin/login">
          <label for="token">Admin token</label>
          <input id="token" name="token" type="password" required autocomplete="current-password" />
          <button>Log in</button>
        </form>
      </main>
    </Page>
  );
}

/** One order's story, as `npm run explain` tells it. */
export function StoryPage({ id, text }: { id: string; text: string }): VNode {
  return (
    <Page title={`Order ${id}`} stylesheet="/admin/admin.css">
      <header>
        <h1>Order</h1>
        <p>
          <a href="/admin">Back to the overview</a>
        </p>
      </header>
      <main>
        <pre tabIndex={0} class="scroll">
          {text}
        </pre>
      </main>
    </Page>
  );
}
