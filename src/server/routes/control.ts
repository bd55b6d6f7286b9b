// The routes of the kill-switch, and of who is asking.
import { z } from 'zod';
import { errorMessage, type KillSwitchState } from '../../core/index.ts';
import type { Place } from '../place.ts';
import { route, type Route } from '../route.ts';
import { shapes } from '../schemas.ts';

const unreadable = { stopped: true, why: 'The kill-switch cannot be read, so it counts as stopped.' };

/** How the fleet stands; what cannot be read is stopped. Why it cannot is told to whoever started the server: it names places of theirs. */
export async function standingOf({ store, tell }: Pick<Place, 'store' | 'tell'>): Promise<KillSwitchState> {
  try {
    const now = await store.killSwitch.status();
    // Somebody who stops a fleet does so at a time.
    if (!now.stopped || now.since !== undefined) return now;
    tell(now.why ?? 'The kill-switch cannot be read.');
  } catch (error) {
    tell(`The kill-switch cannot be read: ${errorMessage(error)}`);
  }
  return unreadable;
}

/** The routes of the kill-switch, and of who is asking. */
export const controlRoutes: readonly Route[] = [
  route({
    method: 'get',
    path: '/api/me',
    role: 'reader',
    summary: 'Who asks, and of what.',
    answers: {
      200: z.object({ role: z.string(), version: z.string(), store: z.string(), stopped: z.boolean() }),
    },
    async handle({ place, caller }) {
      const { stopped } = await standingOf(place);
      return { json: { role: caller.role, version: place.version, store: place.store.description, stopped } };
    },
  }),
  route({
    method: 'get',
    path: '/api/control',
    role: 'reader',
    always: true,
    summary: 'Whether the fleet may work.',
    answers: { 200: shapes.Standing },
    handle: async ({ place }) => ({ json: await standingOf(place) }),
  }),
  route({
    method: 'post',
    path: '/api/control/stop',
    role: 'operator',
    always: true,
    summary: 'Stops every worker, until somebody lets them go on.',
    shapes: { body: z.strictObject({ why: z.string().min(1).max(2000) }) },
    answers: { 200: shapes.Standing },
    handle: async ({ place, body, caller }) => ({ json: await place.store.killSwitch.stop(body.why, caller.name) }),
  }),
  route({
    method: 'post',
    path: '/api/control/resume',
    role: 'operator',
    always: true,
    summary: 'Lets the workers go on.',
    answers: { 200: shapes.Standing },
    handle: async ({ place, caller }) => ({ json: await place.store.killSwitch.resume(caller.name) }),
  }),
];
