import { Router, type RequestHandler } from 'express';
import { createMetrics, type MetricsParts } from './metrics.ts';

export type MetricsRouteParts = MetricsParts & {
  /** The metrics are not public. */
  requireToken: RequestHandler;
};

/** For Prometheus. */
export function metricsRoutes({ requireToken, ...parts }: MetricsRouteParts): Router {
  const metrics = createMetrics(parts);
  const router = Router();
  router.get('/metrics', requireToken, async (_req, res) => {
    res.type(metrics.contentType).send(await metrics.text());
  });
  return router;
}
