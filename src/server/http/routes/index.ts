// The route table of the server.
import { createDeprecatedRoutes } from '../deprecated.ts';
import type { Route } from '../route.ts';
import { budgetRoutes } from './budgets.ts';
import { fleetRoutes } from './fleet.ts';
import { healthRoutes } from './health.ts';
import { killSwitchRoutes } from './kill-switch.ts';
import { openaiRoutes } from './openai.ts';
import { publicRoutes } from './public.ts';
import { runRoutes } from './runs.ts';
import { sessionRoutes } from './sessions.ts';
import { streamRoutes } from './stream.ts';

const currentRoutes: readonly Route[] = [
  ...publicRoutes(() => apiRoutes),
  ...killSwitchRoutes,
  ...runRoutes,
  ...streamRoutes,
  ...sessionRoutes,
  ...fleetRoutes,
  ...budgetRoutes,
  ...healthRoutes,
  ...openaiRoutes,
];

/** Every route of the server, former paths included. */
export const apiRoutes: readonly Route[] = [...currentRoutes, ...createDeprecatedRoutes(currentRoutes)];
