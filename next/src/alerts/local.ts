import type { Request } from 'express';

/** Headers that proxies and tunnels of any kind add to a request that they pass on. */
const PASSED_ON =
  /^(forwarded|via|cdn-loop|x-(forwarded|real|original|client|cluster|proxy|envoy|amzn|azure).*|.*-(client|connecting)-ip)$/;

/**
 * Whether the client is on this machine. The address alone does not prove it: a proxy here calls for the whole world.
 */
export function isLocal(req: Request): boolean {
  const isNear = ['127.0.0.1', '::1', '::ffff:127.0.0.1'].includes(req.socket.remoteAddress ?? '');
  const isOwnName = /^(localhost|127\.0\.0\.1|\[::1\])(:\d+)?$/.test(req.get('host') ?? '');
  return (
    isNear && isOwnName && req.httpVersion !== '1.0' && !Object.keys(req.headers).some((name) => PASSED_ON.test(name))
  );
}
