// Selects the model that the doctor tests: the named one, the configured one, the last one used, or one found on this machine.
import { FairleadError, type Provider } from '../../core/index.ts';
import { discover, findFamily, parseModelRef } from '../../providers/index.ts';
import {
  toResolvedModel,
  isRouterName,
  findModel,
  lookUpModel,
  getModelEndpoint,
  unknownModelError,
  type ResolvedModel,
  openModel,
  type ModelHost,
  testConnection,
} from '../../coding-agent/models/index.ts';
import { readKnownModels, readLastModel, type ModelEndpoint } from '../../coding-agent/state/index.ts';
import type { Settings } from '../../coding-agent/settings/index.ts';
import type { TargetModel } from './check.ts';

/** The doctor asks no question and downloads nothing. */
const silentHost: ModelHost = { confirm: async () => false, progress() {}, notify() {} };

/** Selects the model to test, and its endpoint. */
export async function resolveTargetModel(settings: Settings, requested: string | undefined): Promise<TargetModel> {
  const known = readKnownModels(settings) ?? [];
  const endpoint = getModelEndpoint(settings, known) ?? (await discoverEndpoint(settings));
  const previous = requested === undefined && settings.model === undefined ? readLastModel(settings) : undefined;
  const name = requested ?? settings.model ?? previous;
  if (name === undefined) {
    const first = known.find(({ tools }) => tools === true) ?? known[0];
    const reason = 'none was selected; this one is the first of the list';
    return createTargetModel(settings, { endpoint, model: first && toResolvedModel(first), reason });
  }
  if (isRouterName(name)) return resolveRouterTarget(settings, name);
  // Without a provider, a full name is accepted as it is, as in a first run.
  const unlisted = endpoint === undefined && name.includes('/') ? { name, ref: parseModelRef(name) } : undefined;
  const model = lookUpModel(name, settings) ?? findModel(name, known, endpoint) ?? unlisted;
  const reason = requested !== undefined ? 'named here' : settings.model !== undefined ? 'configured' : 'used last';
  if (!model)
    return createTargetModel(settings, { endpoint, model, reason, error: unknownModelError(name, known, endpoint) });
  return createTargetModel(settings, { endpoint: endpointOfModel(model), model, reason });
}

/** Returns the first model of a router. */
async function resolveRouterTarget(settings: Settings, router: string): Promise<TargetModel> {
  const { findRouter } = await import('../../coding-agent/routing/index.ts');
  const { loadRouterCandidates } = await import('../../coding-agent/routing/index.ts');
  const [first] = await loadRouterCandidates(findRouter(router, settings), settings);
  const model = first && { ...first.model, router };
  return createTargetModel(settings, {
    endpoint: model && endpointOfModel(model),
    model,
    reason: `the first of the router ${router}`,
  });
}

const connectionTimeoutMs = 20_000;

/** Creates the target for a model; it is opened here unless `open` is given. */
export const createTargetModel = (
  settings: Settings,
  target: Omit<TargetModel, 'testConnection' | 'open'>,
  open: TargetModel['open'] = () => openTargetModel(settings, target.model),
): TargetModel => ({
  ...target,
  testConnection: memoize(
    async () => target.endpoint && testConnection(settings, target.endpoint, AbortSignal.timeout(connectionTimeoutMs)),
  ),
  open: memoize(open),
});

async function openTargetModel(settings: Settings, model: ResolvedModel | undefined): Promise<Provider> {
  if (model) return openModel(model, settings, silentHost);
  throw new FairleadError('cli/no-model', 'No model was named, and none was used before.', {
    blame: 'user',
    hint: 'Name one with --model, or fetch the list first: fairlead --one-shot --refresh-models',
  });
}

/** Returns a function that computes a value once; an error is thrown again each time. */
export function memoize<T>(compute: () => T): () => T {
  let cached: { readonly value: T } | { readonly error: unknown } | undefined;
  return () => {
    try {
      cached ??= { value: compute() };
    } catch (error) {
      cached = { error };
    }
    if ('error' in cached) throw cached.error;
    return cached.value;
  };
}

/** Returns the endpoint of a model's provider; a scripted model and the embedded model have none. */
export function endpointOfModel({ ref: { provider, baseUrl } }: ResolvedModel): ModelEndpoint | undefined {
  const family = findFamily(provider);
  if (!family || family.protocol === 'embedded') return undefined;
  return { provider, ...(baseUrl === undefined ? {} : { baseUrl }) };
}

/** Returns the first server found on this machine. A key is not used: the user has not chosen its provider. */
async function discoverEndpoint({ env }: Settings): Promise<ModelEndpoint | undefined> {
  const found = (await discover({ env })).find((each) => each.how === 'server');
  return found && { provider: found.provider, baseUrl: found.baseUrl };
}
