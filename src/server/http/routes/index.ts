// The table of everything that the server can be asked.
import type { Route } from '../route.ts';
import { budgetRoutes } from './budgets.ts';
import { killSwitchRoutes } from './kill-switch.ts';
import { fleetRoutes } from './fleet.ts';
import { healthRoutes } from './health.ts';
import { publicRoutes } from './public.ts';
import { openaiRoutes } from './openai.ts';
import { runRoutes } from './runs.ts';
import { sessionRoutes } from './sessions.ts';
import { streamRoutes } from './stream.ts';

/** Every route of the server. */
export const apiRoutes: readonly Route[] = [
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
