import type { Router } from 'express';

import { DECK, placesOf } from '../../faults/deck.ts';
import { PROFILES } from '../../profiles/all.ts';
import { setting, withBody } from '../bodies.ts';
import type { ControlDeps } from '../reset.ts';
import * as requests from '../requests.ts';

/** Who the stand-in plays, and what is wrong with it at the moment. */
export function addWeatherRoutes(router: Router, deps: ControlDeps): void {
  const { conditions, faults } = deps;
  addClockRoutes(router, deps);
  router.get('/profile', (_req, res) => {
    const all = Object.entries(PROFILES).map(([name, { title, kind }]) => ({ name, title, kind }));
    res.json({ name: conditions.profileName, all });
  });
  router.post(
    '/profile',
    setting(requests.profileSchema, ({ name }) => {
      conditions.profileName = name;
    }),
  );
  router.post(
    '/keys/refuse',
    setting(requests.keysSchema, ({ refuse }) => {
      conditions.areKeysRefused = refuse;
    }),
  );
  router.post(
    '/outage',
    setting(requests.outageSchema, ({ status }) => {
      conditions.outageStatus = status;
    }),
  );
  router.post(
    '/limit',
    setting(requests.limitSchema, ({ callsPerSecond, form = null, lockOutSec = null }) => {
      conditions.limit = callsPerSecond === null ? null : { callsPerSecond, form, lockOutSec };
    }),
  );
  router.get('/faults', (_req, res) => {
    res.json({ set: faults.all(), deck: DECK });
  });
  router.post(
    '/faults',
    withBody(requests.faultSchema, (wanted, _req, res) => {
      const { fault, endpoint = null, reference = null, calls = null } = wanted;
      const places = placesOf(fault);
      if (endpoint !== null && !places.includes(endpoint))
        res.status(422).json({ error: `endpoint: ${fault} can only lie on ${places.join(', ')}` });
      else if (reference !== null && places[0] === 'history')
        res.status(422).json({ error: 'reference: a history has none, leave it out' });
      else res.status(201).json(faults.set({ fault, endpoint, reference, calls }));
    }),
  );
  router.post(
    '/faults/clear',
    setting(requests.emptySchema, () => {
      faults.clear();
    }),
  );
  router.delete('/faults/:id', (req, res) => {
    res.status(faults.remove(req.params.id) ? 204 : 404).end();
  });
}

function addClockRoutes(router: Router, { clock }: ControlDeps): void {
  router.get('/clock', (_req, res) => {
    res.json({ now: clock.now().toISOString(), aheadSec: clock.aheadMs() / 1_000 });
  });
  router.post(
    '/clock',
    setting(requests.clockSchema, ({ forwardSec }) => {
      clock.forward(forwardSec * 1_000);
    }),
  );
}
