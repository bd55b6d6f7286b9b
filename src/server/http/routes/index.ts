// The route table of the server.
import { createDeprecatedRoutes } from '../deprecated.ts';
import type { Route } from '../route.ts';
import { budgetRoutes, fleetRoutes, killSwitchRoutes } from './fleet.ts';
import { healthRoutes } from './health.ts';
import { openaiRoutes } from './openai.ts';
import { planRoutes } from './plans.ts';
import { publicRoutes } from './public.ts';
import { releaseRoutes } from './releases.ts';
import { replayRoutes } from './replays.ts';
import { runRoutes } from './runs.ts';
import { approvalRoutes } from './approvals.ts';
import { sessionRoutes, streamRoutes } from './sessions.ts';
import { terminalSessionRoutes } from './terminal-sessions.ts';
import { traceRoutes } from './traces.ts';
import { verifyRoutes } from './verify.ts';

const currentRoutes: readonly Route[] = [
  ...publicRoutes(() => apiRoutes),
  ...killSwitchRoutes,
  ...runRoutes,
  ...planRoutes,
  ...verifyRoutes,
  ...streamRoutes,
  ...sessionRoutes,
  ...approvalRoutes,
  ...terminalSessionRoutes,
  ...traceRoutes,
  ...replayRoutes,
  ...fleetRoutes,
  ...budgetRoutes,
  ...healthRoutes,
  ...releaseRoutes,
  ...openaiRoutes,
];

/** Every route of the server, former paths included. */
export const apiRoutes: readonly Route[] = [...currentRoutes, ...createDeprecatedRoutes(currentRoutes)];
