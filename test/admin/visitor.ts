import type { TestProgram } from '../support/program.ts';

/** A person at the pages of operations: logs in, reads a page, and sends its forms as a browser does. */
export type Visitor = {
  cookie: string;
  get(path: string): Promise<Response>;
  text(path: string): Promise<string>;
  /** Sends a form with what the page itself put into it. */
  send(path: string, fields: [string, string][], headers?: Record<string, string>): Promise<Response>;
  /** The same, and the text of the page that it leads to. */
  sendAndRead(path: string, fields: [string, string][]): Promise<string>;
};

export const TOKEN = 'a-long-admin-token';

export async function logIn(shop: TestProgram, token = TOKEN): Promise<Visitor> {
  const login = await fetch(`${shop.origin}/admin/login`, {
    method: 'POST',
    body: new URLSearchParams({ token }),
    redirect: 'manual',
  });
  const cookie = login.headers
    .getSetCookie()
    .map((line) => line.split(';')[0])
    .join('; ');
  return visitor(shop, cookie);
}

/** @param formPage a page that has a form, whoever looks at it */
export function visitor(shop: TestProgram, cookie: string, formPage = '/admin/orders'): Visitor {
  const get = (path: string): Promise<Response> =>
    fetch(shop.origin + path, { headers: { cookie }, redirect: 'manual' });
  const text = async (path: string): Promise<string> => (await get(path)).text();
  // It belongs to the session, and every page of it shows the same.
  let form: string | undefined;
  const send = async (
    path: string,
    fields: [string, string][],
    headers: Record<string, string> = {},
  ): Promise<Response> => {
    form ??= /name="form" value="([^"]*)"/.exec(await text(formPage))?.[1] ?? '';
    return fetch(shop.origin + path, {
      method: 'POST',
      body: new URLSearchParams([['form', form], ...fields]),
      headers: { cookie, 'sec-fetch-site': 'same-origin', ...headers },
      redirect: 'manual',
    });
  };
  return {
    cookie,
    get,
    text,
    send,
    sendAndRead: async (path, fields) => {
      let next = (await send(path, fields)).headers.get('location') ?? '';
      for (;;) {
        const answer = await get(next);
        if (answer.status !== 303) return answer.text();
        next = answer.headers.get('location') ?? '';
      }
    },
  };
}

export const signed = (note = 'because'): [string, string][] => [
  ['by', 'Ngozi'],
  ['note', note],
];
