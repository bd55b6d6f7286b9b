// Opens a model, or a router that opens one for each message.
import type { Provider } from '../../core/index.ts';
import { openModel, type ModelHost } from '../models/open-model.ts';
import type { ResolvedModel } from '../models/resolve-model.ts';
import type { Settings } from '../settings/index.ts';
import type { SessionRouter } from './session-router.ts';

/** Opens a model, or a router that opens one for each message. */
export async function openModelOrRouter(
  model: ResolvedModel,
  settings: Settings,
  host: ModelHost,
): Promise<Provider | SessionRouter> {
  if (model.router === undefined) return openModel(model, settings, host);
  const { createSessionRouter } = await import('./session-router.ts');
  return createSessionRouter(model.router, settings, host);
}
