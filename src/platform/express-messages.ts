import { IncomingMessage, ServerResponse } from 'node:http';
import express, { type Express } from 'express';

/** The message classes of a server, and `adopt`, to be called once with the application that answers. */
export type ExpressMessages = {
  IncomingMessage: typeof IncomingMessage;
  ServerResponse: typeof ServerResponse;
  adopt(app: Express): void;
};

/**
 * Requests and responses with Express's prototypes from the start. Express changes the prototype of each
 * message as it arrives. Whenever a property is then added to such an object, V8 gives it a shape of its
 * own, so code that reads it must look its properties up anew. That took a quarter of a busy server's
 * time. Messages that have the application's prototypes already are left as they are.
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
      // As Express does it: `req.app` and `res.app` are how both find the application's settings.
      Object.assign(app, {
        request: Object.assign(ExpressRequest.prototype, { app }),
        response: Object.assign(ExpressResponse.prototype, { app }),
      });
    },
  };
}
