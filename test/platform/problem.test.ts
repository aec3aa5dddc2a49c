import type { AddressInfo } from 'node:net';
import { expect, test } from '@jest/globals';
import express from 'express';
import { ProblemPage } from '../../src/admin/layout/frame.tsx';
import { problemHandler } from '../../src/platform/problem.ts';
import { keepLines } from '../support/lines.ts';

const CAUSE = 'SELECT secret FROM vault at /srv/shop/src/vault.ts';

test.each(['application/json', 'text/html'])(
  'a surprise is logged with its cause, and whoever asked for %s learns nothing of it',
  async (accept) => {
    const { logger, lines } = keepLines();
    const app = express();
    app.get('/vault', () => {
      throw new Error(CAUSE);
    });
    app.use(problemHandler(logger, ProblemPage));
    const server = app.listen(0, '127.0.0.1');
    try {
      await new Promise((resolve) => server.once('listening', resolve));
      const { port } = server.address() as AddressInfo;
      const answer = await fetch(`http://127.0.0.1:${port}/vault`, { headers: { accept } });
      const text = await answer.text();
      expect(answer.status).toBe(500);
      expect(text).not.toBe('');
      for (const trace of ['SELECT', 'vault.ts', 'at /', 'Error:', 'node_modules'])
        expect(text).not.toContain(trace);
      expect(lines.join()).toContain(CAUSE);
    } finally {
      await new Promise((resolve) => server.close(resolve));
    }
  },
);
