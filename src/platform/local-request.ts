import type { Request } from 'express';

/** What proxies and tunnels write into a request that they pass on, whatever they are. */
const PASSED_ON =
  /^(forwarded|via|cdn-loop|x-(forwarded|real|original|client|cluster|proxy|envoy|amzn|azure|appengine).*|.*-(client|connecting)-ip)$/;

/**
 * Whether the client sits at this machine. The address alone does not say it: a proxy or a tunnel on this machine calls
 * from here for the whole world, and a page of a stranger may have its name point here. They show in the headers of a
 * forwarder, in the host that was asked for, or in HTTP/1.0, which nginx speaks to what is behind it.
 */
export function isLocalRequest(req: Request): boolean {
  const isNear = ['127.0.0.1', '::1', '::ffff:127.0.0.1'].includes(req.socket.remoteAddress ?? '');
  const isOwnName = /^(localhost|127\.0\.0\.1|\[::1\])(:\d+)?$/.test(req.get('host') ?? '');
  const isDirect =
    req.httpVersion !== '1.0' && !Object.keys(req.headers).some((name) => PASSED_ON.test(name));
  return isNear && isOwnName && isDirect;
}
