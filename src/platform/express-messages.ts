import { IncomingMessage, ServerResponse } from 'node:http';
import express, { type Express } from 'express';

/** What a server makes of each exchange, and `adopt`, to be called once with the application that answers. */
export type ExpressMessages = {
  IncomingMessage: typeof IncomingMessage;
  ServerResponse: typeof ServerResponse;
  adopt(app: Express): void;
};

/**
 * Requests and responses that are Express's own from the start. Express changes the prototype of each as it arrives,
 * and whatever is then written into an object of which that was done, V8 gives it a shape that no other object has: every
 * place that reads one looks its properties up anew. That took a quarter of a busy server's time. Messages that have the
 * application's prototypes already are left as they are.
 */
export function createExpressMessages(): ExpressMessages {
  class ExpressRequest extends IncomingMessage {}
  class ExpressResponse<Request extends IncomingMessage> extends ServerResponse<Request> {}
  Object.setPrototypeOf(ExpressRequest.prototype, express.request);
  Object.setPrototypeOf(ExpressResponse.prototype, express.response);
  return {
    IncomingMessage: ExpressRequest,
    ServerResponse: ExpressResponse,
    adopt: (app) => {
      // As Express makes them: `req.app` and `res.app` are how both find the application's settings.
      Object.assign(app, {
        request: Object.assign(ExpressRequest.prototype, { app }),
        response: Object.assign(ExpressResponse.prototype, { app }),
      });
    },
  };
}
