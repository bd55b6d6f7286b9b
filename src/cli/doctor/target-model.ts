// Which model the doctor looks at: the one named, the one set, the last one used, or what was found on this machine.
import { FairleadError, type Provider } from '../../core/index.ts';
import { discover, findFamily, parseModelRef } from '../../providers/index.ts';
import {
  toResolvedModel,
  isRouterName,
  findModel,
  getModelEndpoint,
  unknownModelError,
  type ResolvedModel,
} from '../../coding-agent/models/resolve-model.ts';
import { openModel, type ModelHost } from '../../coding-agent/models/open-model.ts';
import { readKnownModels, readLastModel, type ModelEndpoint } from '../../coding-agent/state/index.ts';
import type { Settings } from '../../coding-agent/settings/index.ts';
import type { TargetModel } from './check.ts';
import { testConnection } from '../../coding-agent/models/test-connection.ts';

/** Nobody is asked and nothing is fetched: a doctor looks. */
const silentHost: ModelHost = { confirm: async () => false, progress() {}, notify() {} };

/** The model to look at, and where it is. */
export async function resolveTargetModel(settings: Settings, given: string | undefined): Promise<TargetModel> {
  const known = readKnownModels(settings) ?? [];
  const place = getModelEndpoint(settings, known) ?? (await discoverEndpoint(settings));
  const previous = given === undefined && settings.model === undefined ? readLastModel(settings) : undefined;
  const wanted = given ?? settings.model ?? previous;
  if (wanted === undefined) {
    const first = known.find(({ tools }) => tools === true) ?? known[0];
    const because = 'none was chosen yet; this one is the first of the list';
    return createTargetModel(settings, { endpoint: place, model: first && toResolvedModel(first), reason: because });
  }
  if (isRouterName(wanted)) return resolveRouterTarget(settings, wanted);
  // With no provider to go by, a full name is believed, as a first run believes it.
  const believed =
    place === undefined && wanted.includes('/') ? { name: wanted, ref: parseModelRef(wanted) } : undefined;
  const chosen = findModel(wanted, known, place) ?? believed;
  const because = given !== undefined ? 'named here' : settings.model !== undefined ? 'set' : 'used last';
  if (!chosen)
    return createTargetModel(settings, {
      endpoint: place,
      model: chosen,
      reason: because,
      error: unknownModelError(wanted, known, place),
    });
  return createTargetModel(settings, { endpoint: endpointOfModel(chosen), model: chosen, reason: because });
}

/** Of a router, the model that it lists first. */
async function resolveRouterTarget(settings: Settings, router: string): Promise<TargetModel> {
  const { findRouter } = await import('../../coding-agent/routing/router-config.ts');
  const { loadRouterCandidates } = await import('../../coding-agent/routing/candidates.ts');
  const [first] = await loadRouterCandidates(findRouter(router, settings), settings);
  const chosen = first && { ...first.model, router };
  return createTargetModel(settings, {
    endpoint: chosen && endpointOfModel(chosen),
    model: chosen,
    reason: `the first of the router ${router}`,
  });
}

const connectionTimeoutMs = 20_000;

/** The subject for a model, which is opened here unless it is open already. */
export const createTargetModel = (
  settings: Settings,
  about: Omit<TargetModel, 'testConnection' | 'open'>,
  open: TargetModel['open'] = () => openTargetModel(settings, about.model),
): TargetModel => ({
  ...about,
  testConnection: memoize(
    async () => about.endpoint && testConnection(settings, about.endpoint, AbortSignal.timeout(connectionTimeoutMs)),
  ),
  open: memoize(open),
});

async function openTargetModel(settings: Settings, chosen: ResolvedModel | undefined): Promise<Provider> {
  if (chosen) return openModel(chosen, settings, silentHost);
  throw new FairleadError('cli/no-model', 'No model was named, and none was used before.', {
    blame: 'user',
    hint: 'Name one with --model, or read the list first: fairlead --one-shot --refresh-models',
  });
}

/** The same value, or the same error, each time. */
export function memoize<T>(make: () => T): () => T {
  let made: { readonly value: T } | { readonly error: unknown } | undefined;
  return () => {
    try {
      made ??= { value: make() };
    } catch (error) {
      made = { error };
    }
    if ('error' in made) throw made.error;
    return made.value;
  };
}

/** Where a chosen model's provider is; a stand-in and the embedded model are nowhere else. */
export function endpointOfModel({ ref: { provider, baseUrl } }: ResolvedModel): ModelEndpoint | undefined {
  const family = findFamily(provider);
  if (!family || family.protocol === 'embedded') return undefined;
  return { provider, ...(baseUrl === undefined ? {} : { baseUrl }) };
}

/** The first thing on this machine that could answer; nothing but the embedded model is nothing. */
async function discoverEndpoint({ env }: Settings): Promise<ModelEndpoint | undefined> {
  const found = (await discover({ env })).find(({ how }) => how !== 'embedded');
  if (!found) return undefined;
  return { provider: found.provider, ...('baseUrl' in found ? { baseUrl: found.baseUrl } : {}) };
}
