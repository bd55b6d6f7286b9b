// Tests the connection to a provider by listing its models, which costs nothing.
import { listModels } from '../../providers/index.ts';
import type { Settings } from '../settings/index.ts';
import type { ModelEndpoint } from '../state/index.ts';
import { formatEndpoint } from './resolve-model.ts';

/** Returns a sentence that the provider answers; throws the error if it does not. */
export async function testConnection(
  settings: Settings,
  endpoint: ModelEndpoint,
  signal?: AbortSignal,
): Promise<string> {
  const start = performance.now();
  const models = await listModels(endpoint, { env: settings.env, ...(signal ? { signal } : {}) });
  const ms = Math.round(performance.now() - start);
  return `${formatEndpoint(endpoint)} answers (${ms} ms) and has ${models.length} model${models.length === 1 ? '' : 's'}.`;
}
