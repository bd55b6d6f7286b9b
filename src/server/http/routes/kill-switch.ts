// HTTP routes of the kill switch.
import { z } from 'zod';
import { createHttpError } from '../errors.ts';
import { readKillSwitchStatus } from '../kill-switch-status.ts';
import { defineRoute, type Route } from '../route.ts';
import { apiSchemas } from '../schemas.ts';

/** The routes of the kill switch. */
export const killSwitchRoutes: readonly Route[] = [
  defineRoute({
    method: 'get',
    path: '/api/kill-switch',
    role: 'reader',
    exemptFromLimits: true,
    summary: 'The state of the kill switch.',
    responses: { 200: apiSchemas.KillSwitchState },
    handle: async ({ context }) => ({ json: await readKillSwitchStatus(context) }),
  }),
  defineRoute({
    method: 'post',
    path: '/api/kill-switch',
    role: 'operator',
    exemptFromLimits: true,
    summary: 'Stops all workers, or lets them continue: `stopped` true needs a `reason`.',
    schemas: {
      body: z.strictObject({ stopped: z.boolean(), reason: z.string().min(1).max(2000).optional() }),
    },
    responses: { 200: apiSchemas.KillSwitchState },
    async handle({ context: { store }, body: { stopped, reason }, caller }) {
      if (!stopped) return { json: await store.killSwitch.resume(caller.name) };
      if (reason === undefined)
        throw createHttpError('server/bad-request', 'A reason is required to stop the fleet.', { param: 'reason' });
      return { json: await store.killSwitch.stop(reason, caller.name) };
    },
  }),
];
