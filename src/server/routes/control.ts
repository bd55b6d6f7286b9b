// The routes of the kill-switch, and of who is asking.
import { z } from 'zod';
import { messageOf, type Standing } from '../../core/index.ts';
import type { Place } from '../place.ts';
import { route, type Route } from '../route.ts';
import { shapes } from '../schemas.ts';

/** How the fleet stands; what cannot be read is stopped. */
export const standingOf = ({ store }: Pick<Place, 'store'>): Promise<Standing> =>
  store.killSwitch
    .standing()
    .catch((error: unknown) => ({ stopped: true, why: `It cannot be read: ${messageOf(error)}` }));

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
      return { json: { role: caller.role, version: place.version, store: place.store.about, stopped } };
    },
  }),
  route({
    method: 'get',
    path: '/api/control',
    role: 'reader',
    summary: 'Whether the fleet may work.',
    answers: { 200: shapes.Standing },
    handle: async ({ place }) => ({ json: await standingOf(place) }),
  }),
  route({
    method: 'post',
    path: '/api/control/stop',
    role: 'operator',
    summary: 'Stops every worker, until somebody lets them go on.',
    shapes: { body: z.strictObject({ why: z.string().min(1).max(2000) }) },
    answers: { 200: shapes.Standing },
    handle: async ({ place, body, caller }) => ({ json: await place.store.killSwitch.stop(body.why, caller.name) }),
  }),
  route({
    method: 'post',
    path: '/api/control/resume',
    role: 'operator',
    summary: 'Lets the workers go on.',
    answers: { 200: shapes.Standing },
    handle: async ({ place, caller }) => ({ json: await place.store.killSwitch.resume(caller.name) }),
  }),
];
