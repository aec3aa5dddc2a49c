import type { VNode } from 'preact';
import type { Request } from 'express';
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

const FIRST_PAGE = '/admin';
/** Only for comparison: what is left of an address of ours is its path and query. */
const HERE = 'http://here.invalid';

/** The login page, which remembers the page that was asked for. A form is not sent again. */
export function loginAddress({ method, originalUrl }: Pick<Request, 'method' | 'originalUrl'>): string {
  const page = method === 'GET' ? pageAfterLogin(originalUrl) : FIRST_PAGE;
  return page === FIRST_PAGE
    ? '/admin/login'
    : `/admin/login?${new URLSearchParams({ to: page }).toString()}`;
}

/**
 * Where a login leads.
 * @param to text from outside: whatever is not a page of the console means the first page
 */
export function pageAfterLogin(to: unknown): string {
  if (typeof to !== 'string' || !URL.canParse(to, HERE)) return FIRST_PAGE;
  const { origin, pathname, search } = new URL(to, HERE);
  const isPage = /^\/admin(?!\/log(in|out)\b)(\/|$)/.test(pathname);
  return origin === HERE && isPage ? pathname + search : FIRST_PAGE;
}
