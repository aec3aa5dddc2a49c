import express, { Router, type ErrorRequestHandler, type Request } from 'express';
import type { Logger } from 'pino';
import { countWebhook } from '../platform/metrics.ts';
import { createLimit, networkOf } from '../platform/limits.ts';
import { Problem } from '../platform/problem.ts';
import { noteRefused, receiveWebhook, type ReceiveParts, type RefusalReason } from './receive.ts';

const MAX_BODY = '128kb';
/** Unsigned ones can come from anybody, so each address gets a share. */
const UNSIGNED_PER_SEC = 200;
/** Of refused ones, so many a second are written down; the metrics count all. */
const NOTED_PER_SEC = 5;

/** The service's door. Its answer says only that the webhook is on disk. */
export function webhookRoutes(parts: ReceiveParts & { logger: Logger }): Router {
  const router = Router();
  const { acknowledgement } = parts.gateway.adapter.webhook;
  const unsigned = createLimit({ pool: null, name: 'webhook', points: UNSIGNED_PER_SEC, perSec: 1 });
  const noted = createLimit({ pool: null, name: 'refused', points: NOTED_PER_SEC, perSec: 1 });
  const isUnsigned = parts.secrets.length === 0 || parts.gateway.adapter.webhook.signature === null;

  const refuse = async (req: Request, reason: RefusalReason): Promise<void> => {
    countWebhook(reason);
    const address = networkOf(req.ip);
    const isNoted = await noted.take(reason).then(
      () => true,
      () => false,
    );
    if (!isNoted) return;
    parts.logger.warn({ reason, address, contentType: req.get('content-type') }, 'webhook refused');
    await noteRefused(parts, reason, Buffer.isBuffer(req.body) ? req.body : null, address).catch((error: unknown) => {
      parts.logger.warn({ err: error }, 'a refused webhook could not be written down');
    });
  };

  // Services probe the address before they use it.
  router.get('/webhooks/payments', (_req, res) => {
    res.json({ status: 'ready' });
  });
  router.post(
    '/webhooks/payments',
    async (req, _res, next) => {
      if (isUnsigned) await unsigned.take(networkOf(req.ip));
      if (!/^application\/(json|[\w.+-]+\+json|x-www-form-urlencoded)\b/i.test(req.get('content-type') ?? ''))
        throw new Problem('unsupported-media-type');
      next();
    },
    express.raw({ type: () => true, limit: MAX_BODY, inflate: false }),
    async (req, res) => {
      const body: unknown = req.body;
      const receipt = Buffer.isBuffer(body)
        ? await receiveWebhook(parts, req.headers, body, networkOf(req.ip))
        : 'malformed';
      if (receipt !== 'stored') throw new Problem(receipt === 'malformed' ? 'malformed-request' : receipt);
      countWebhook('stored');
      if (acknowledgement === undefined) res.status(202).json({ status: 'received' });
      else res.status(acknowledgement.status).type(acknowledgement.contentType).send(acknowledgement.body);
    },
  );
  router.use('/webhooks/payments', (async (error: unknown, req, _res, next) => {
    const reason = reasonOf(error);
    if (reason !== null) await refuse(req, reason);
    next(error);
  }) satisfies ErrorRequestHandler);
  return router;
}

const REASONS: Record<string, RefusalReason> = {
  'entity.too.large': 'too-large',
  'encoding.unsupported': 'unsupported-media-type',
  'charset.unsupported': 'unsupported-media-type',
  'unsupported-media-type': 'unsupported-media-type',
  'bad-signature': 'bad-signature',
  'too-many-requests': 'too-many-requests',
};

/** Of a body parser's error or a problem; null: it is not the sender's fault. */
function reasonOf(error: unknown): RefusalReason | null {
  const { type = '', status = 500 } = error as { type?: string; status?: number };
  return REASONS[type] ?? (status < 500 ? 'malformed' : null);
}
