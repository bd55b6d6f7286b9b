// Whether the provider answers: the list of its models is asked for, which every one has and which costs nothing.
import { listModels } from '../../providers/index.ts';
import type { Settings } from '../settings/index.ts';
import type { ModelEndpoint } from '../state/index.ts';
import { formatEndpoint } from './resolve-model.ts';

/** A sentence about a provider that answers; throws what is wrong with one that does not. */
export async function testConnection(settings: Settings, place: ModelEndpoint, signal?: AbortSignal): Promise<string> {
  const began = performance.now();
  const models = await listModels(place, { env: settings.env, ...(signal ? { signal } : {}) });
  const ms = Math.round(performance.now() - began);
  return `${formatEndpoint(place)} answers (${ms} ms) and has ${models.length} model${models.length === 1 ? '' : 's'}.`;
}
