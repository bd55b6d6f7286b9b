// The routes of the kill-switch, and of who is asking.
import { z } from 'zod';
import { errorMessage, type KillSwitchState } from '../../../core/index.ts';
import type { ServerContext } from '../context.ts';
import { defineRoute, type Route } from '../route.ts';
import { apiSchemas } from '../schemas.ts';

const unreadableStatus = { stopped: true, why: 'The kill-switch cannot be read, so it counts as stopped.' };

/** How the fleet stands; what cannot be read is stopped. Why it cannot is told to whoever started the server: it names places of theirs. */
export async function readKillSwitchStatus({
  store,
  notify,
}: Pick<ServerContext, 'store' | 'notify'>): Promise<KillSwitchState> {
  try {
    const now = await store.killSwitch.status();
    // Somebody who stops a fleet does so at a time.
    if (!now.stopped || now.since !== undefined) return now;
    notify(now.why ?? 'The kill-switch cannot be read.');
  } catch (error) {
    notify(`The kill-switch cannot be read: ${errorMessage(error)}`);
  }
  return unreadableStatus;
}

/** The routes of the kill-switch, and of who is asking. */
export const killSwitchRoutes: readonly Route[] = [
  defineRoute({
    method: 'get',
    path: '/api/me',
    role: 'reader',
    summary: 'Who asks, and of what.',
    responses: {
      200: z.object({ role: z.string(), version: z.string(), store: z.string(), stopped: z.boolean() }),
    },
    async handle({ context, caller }) {
      const { stopped } = await readKillSwitchStatus(context);
      return { json: { role: caller.role, version: context.version, store: context.store.description, stopped } };
    },
  }),
  defineRoute({
    method: 'get',
    path: '/api/control',
    role: 'reader',
    exemptFromLimits: true,
    summary: 'Whether the fleet may work.',
    responses: { 200: apiSchemas.Standing },
    handle: async ({ context }) => ({ json: await readKillSwitchStatus(context) }),
  }),
  defineRoute({
    method: 'post',
    path: '/api/control/stop',
    role: 'operator',
    exemptFromLimits: true,
    summary: 'Stops every worker, until somebody lets them go on.',
    schemas: { body: z.strictObject({ why: z.string().min(1).max(2000) }) },
    responses: { 200: apiSchemas.Standing },
    handle: async ({ context, body, caller }) => ({
      json: await context.store.killSwitch.stop(body.why, caller.name),
    }),
  }),
  defineRoute({
    method: 'post',
    path: '/api/control/resume',
    role: 'operator',
    exemptFromLimits: true,
    summary: 'Lets the workers go on.',
    responses: { 200: apiSchemas.Standing },
    handle: async ({ context, caller }) => ({ json: await context.store.killSwitch.resume(caller.name) }),
  }),
];
