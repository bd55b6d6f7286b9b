// HTTP routes of the control thread: the kill switch as on the main listener, and health that says whether the main thread is blocked.
import { z } from 'zod';
import { createHttpError } from '../http/errors.ts';
import { createDeprecatedRoutes } from '../http/deprecated.ts';
import { killSwitchRoutes } from '../http/routes/fleet.ts';
import { defineRoute, type Route } from '../http/route.ts';
import { formatBlocked, type MainThreadState } from './main-thread.ts';

/** What the routes report. */
export type ControlState = MainThreadState & {
  /** The ids of the runs that this process executes. */
  readonly runs: readonly string[];
};

const formerPaths = ['/api/control', '/api/control/stop', '/api/control/resume'];

/** Creates the routes of a control thread. */
export const createControlRoutes = (getState: () => ControlState): readonly Route[] => [
  ...killSwitchRoutes,
  ...createDeprecatedRoutes(killSwitchRoutes, formerPaths),
  defineRoute({
    method: 'get',
    path: '/healthz',
    role: 'public',
    exemptFromLimits: true,
    summary: 'Liveness check: 503 if the main thread is blocked.',
    responses: { 200: z.object({ ok: z.literal(true) }) },
    handle() {
      const state = getState();
      if (state.blocked) throw createHttpError('server/blocked', formatBlocked(state));
      return { json: { ok: true } };
    },
  }),
  defineRoute({
    method: 'get',
    path: '/api/health',
    role: 'reader',
    exemptFromLimits: true,
    summary:
      'Fleet health as on the main listener, whether the main thread is blocked, for how long, and the runs that it executes.',
    responses: { 200: z.looseObject({ blocked: z.boolean(), blockedMs: z.number() }) },
    async handle({ caller, context }) {
      const { runs, ...state } = getState();
      // The runs may belong to any tenant.
      const visible = caller.tenant === undefined ? { runs } : {};
      return { json: { ...(await context.health()), ...state, ...visible } };
    },
  }),
];
