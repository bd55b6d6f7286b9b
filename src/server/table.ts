// The table of everything that the server can be asked.
import type { Route } from './route.ts';
import { budgetRoutes } from './routes/budgets.ts';
import { killSwitchRoutes } from './routes/control.ts';
import { fleetRoutes } from './routes/fleet.ts';
import { healthRoutes } from './routes/health.ts';
import { publicRoutes } from './routes/open.ts';
import { openaiRoutes } from './routes/openai.ts';
import { runRoutes } from './routes/runs.ts';
import { sessionRoutes } from './routes/sessions.ts';
import { streamRoutes } from './routes/stream.ts';

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
