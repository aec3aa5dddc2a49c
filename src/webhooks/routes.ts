import express, { Router, type Response } from 'express';
import { clientNetwork } from '../platform/rate-limits.ts';
import { Problem } from '../platform/problem.ts';
import type { ReceiveWebhook, WebhookReceipt } from './receive.ts';

const MAX_BODY = '128kb';

/**
 * The service's route. Answers 202, or what the dialect says, once the webhook is on disk, and never
 * redirects: a redirect would turn POST into GET.
 */
export function webhookRoutes(receive: ReceiveWebhook): Router {
  const router = Router();
  router.post(
    '/webhooks/payments',
    // The signature is over the bytes as they came, so they are not parsed here. Compressed bodies are
    // refused: two hundred kilobytes can unpack to two hundred megabytes.
    express.raw({ type: () => true, limit: MAX_BODY, inflate: false }),
    async (req, res) => {
      const isJson = Boolean(req.is(['application/json', '+json']));
      if (!isJson && !req.is('application/x-www-form-urlencoded'))
        throw new Problem('unsupported-media-type');
      const body: unknown = req.body;
      if (!Buffer.isBuffer(body) || body.length === 0) throw new Problem('malformed-request');
      const contentType = req.get('content-type') ?? '';
      const address = clientNetwork(req.ip);
      answer(res, await receive({ headers: req.headers, contentType, isJson, address, body }));
    },
  );
  router.all('/webhooks/payments', (_req, res) => {
    res.set('allow', 'POST');
    throw new Problem('method-not-allowed');
  });
  return router;
}

function answer(res: Response, receipt: WebhookReceipt): void {
  switch (receipt.outcome) {
    case 'stored':
      res.status(receipt.status).json({ status: 'received' });
      return;
    case 'bad-signature':
      throw new Problem('bad-signature');
    case 'malformed':
      throw new Problem('malformed-request', { detail: 'The body is not a JSON object.' });
    case 'too-many':
      throw new Problem('too-many-requests', { retryAfterSec: receipt.retryAfterSec });
  }
}
