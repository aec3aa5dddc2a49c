import express, { Router, type ErrorRequestHandler, type Request, type RequestHandler } from 'express';
import { networkOf } from '../platform/addresses.ts';
import { createLimit } from '../platform/limits.ts';
import { isDatabaseAway } from '../platform/db.ts';
import { asProblem, Problem, type ProblemType } from '../platform/problem.ts';
import { areSigned, noteRefused, receiveWebhook, type ReceiveParts } from './receive.ts';

const MAX_BODY = '128kb';
/** Anybody can send unsigned webhooks, so each client address has a limit. */
const UNSIGNED_PER_SEC = 20;
/**
 * The most refused webhooks that are stored each second, for each reason. The metrics count all.
 */
const NOTED_PER_SEC = 5;

export type WebhookParts = ReceiveParts & {
  /** Counts the outcome of a webhook. */
  count: (outcome: string) => void;
};

/** The route for the service's webhooks. Its answer says only that the webhook is on disk. */
export function webhookRoutes(parts: WebhookParts): Router {
  const router = Router();
  const { acknowledgement } = parts.gateway.adapter.webhook;
  const noteRefusal = createRefusalNotes(parts);
  // Health check for services that probe the webhook URL.
  router.get('/webhooks/payments', (_req, res) => {
    res.json({ status: 'ready' });
  });
  router.post(
    '/webhooks/payments',
    areSigned(parts) ? pass : guardUnsigned(),
    express.raw({ type: () => true, limit: MAX_BODY, inflate: false }),
    async (req, res) => {
      const body: unknown = req.body;
      if (!Buffer.isBuffer(body)) throw new Problem('malformed-request');
      const receipt = await receiveWebhook(parts, { headers: req.headers, body, address: networkOf(req.ip) });
      if (receipt !== 'stored') throw new Problem(receipt);
      parts.count('stored');
      if (acknowledgement === undefined) res.status(202).json({ status: 'received' });
      else res.status(acknowledgement.status).type(acknowledgement.contentType).send(acknowledgement.body);
    },
  );
  router.use('/webhooks/payments', (async (error: unknown, req, _res, next) => {
    const problem = asProblem(error, isDatabaseAway);
    // A status of 500 or more is not the sender's fault.
    if (problem.status < 500) await noteRefusal(req, problem.type);
    next(problem);
  }) satisfies ErrorRequestHandler);
  return router;
}

/** A valid signature is enough, whatever the content type. */
const pass: RequestHandler = (_req, _res, next) => {
  next();
};

const UNSIGNED_TYPES = /^application\/(json|[\w.+-]+\+json|x-www-form-urlencoded)\b/i;

/** Limits the unsigned webhooks of an address, and accepts only the content types of webhooks. */
function guardUnsigned(): RequestHandler {
  const limit = createLimit({ pool: null, name: 'webhook', points: UNSIGNED_PER_SEC, perSec: 1 });
  return async (req, _res, next) => {
    await limit.take(networkOf(req.ip));
    if (!UNSIGNED_TYPES.test(req.get('content-type') ?? '')) throw new Problem('unsupported-media-type');
    next();
  };
}

/** Counts each refused webhook, and stores and logs as many as the limit allows. */
function createRefusalNotes(parts: WebhookParts): (req: Request, reason: ProblemType) => Promise<void> {
  const limit = createLimit({ pool: null, name: 'refused', points: NOTED_PER_SEC, perSec: 1 });
  return async (req, reason) => {
    parts.count(reason);
    const address = networkOf(req.ip);
    if (!(await limit.has(reason))) return;
    await limit.take(reason).catch(() => undefined);
    parts.logger.warn({ reason, address, contentType: req.get('content-type') }, 'webhook refused');
    await noteRefused(parts, reason, Buffer.isBuffer(req.body) ? req.body : null, address).catch((error: unknown) => {
      parts.logger.warn({ err: error }, 'a refused webhook could not be written down');
    });
  };
}
