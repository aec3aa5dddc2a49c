import type { Request } from 'express';

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
