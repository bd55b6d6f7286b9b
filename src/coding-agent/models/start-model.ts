// Decides which model a start uses: the named one, that of the settings, the last one that answered, or one that the user chooses. Without a user to ask, nothing is searched, fetched or sent.
import { FairleadError } from '../../core/index.ts';
import { findFamily, parseModelRef } from '../../providers/index.ts';
import { readKnownModels, readLastModel, refreshModels, type KnownModel, type ModelEndpoint } from '../state/index.ts';
import type { SessionModel } from '../../sessions/index.ts';
import type { Settings } from '../settings/index.ts';
import type { ChosenModel, ModelChooser } from './choose-model.ts';
import {
  defaultEndpoint,
  expandModelName,
  findModel,
  formatEndpoint,
  getModelEndpoint,
  isRouterName,
  lookUpModel,
  resolveEmbeddedName,
  toResolvedModel,
  toRouterModel,
  type ResolvedModel,
} from './resolve-model.ts';

/** The options of the choice of a model at a start. */
export type StartModelOptions = {
  /** The model of the command line. Naming a model is consent to use its provider, and to fetch the embedded model. */
  readonly named?: string | undefined;
  /** The model of the session that is resumed: used if no other model is configured. That the session used it is consent to its provider, at the same host. */
  readonly ofSession?: SessionModel | undefined;
  /** Asks the user; absent if there is no terminal. */
  readonly chooser?: ModelChooser;
  /** Fetches the list of the configured provider, even if there is one. */
  readonly refresh?: boolean;
  /** Receives warnings also if there is no chooser. */
  readonly onWarning?: (text: string) => void;
  readonly signal?: AbortSignal;
};

/** Chooses the model of a start; undefined if the user chose none. Throws an error that says what to do if there is none and no user to ask. */
export async function selectStartModel(
  settings: Settings,
  options: StartModelOptions = {},
): Promise<ChosenModel | undefined> {
  const { named, chooser, signal } = options;
  const given = named ?? settings.model;
  const last = given === undefined ? readLastModel(settings) : undefined;
  const wanted = given ?? last ?? options.ofSession?.name;
  const name = wanted === undefined ? undefined : expandModelName(wanted, settings);
  if (isRouterName(name) && options.refresh !== true) return { model: toRouterModel(name), settings };
  const endpoint = getModelEndpoint(settings, []) ?? (options.refresh === true ? defaultEndpoint : undefined);
  const known = await readOrFetchList(settings, name, endpoint, options);
  if (known === undefined) return undefined;
  const found = name === undefined ? undefined : findWanted(name, settings);
  if (found && options.ofSession && given === undefined && last === undefined)
    (await import('./start-checks.ts')).assertSameHost(found, options.ofSession, settings, known);
  if (found) return { model: { ...found, ...(given === undefined ? {} : { isNamed: true }) }, settings };
  const problem =
    name === undefined ? undefined : (await import('./unknown-model.ts')).unknownModelError(name, known, endpoint);
  if (name !== undefined && endpoint === undefined) {
    const served = await findOnThisMachine(name, settings, signal);
    if (served) return { model: served, settings };
  }
  if (!chooser) throw problem ?? (await import('./start-checks.ts')).noModelError(settings, known);
  const { chooseModel } = await import('./choose-model.ts');
  return chooseModel(settings, chooser, {
    ...(problem === undefined ? {} : { problem: problem.message }),
    ...(endpoint === undefined ? {} : { endpoint }),
    ...(name !== undefined && findFamily(name) ? { endpoint: { provider: findFamily(name)?.name ?? name } } : {}),
    ...(signal ? { signal } : {}),
  });
}

type UnattendedModelOptions = {
  readonly model?: string | undefined;
  readonly ofSession?: SessionModel | undefined;
  /** Whether a client, a queued run or a model named it: that is not consent to a download. */
  readonly isRequested?: boolean;
};

/** Chooses the model of a start without a user: the named one, that of the settings, or the last one that answered. */
export async function resolveModelUnattended(
  { model, ofSession, isRequested = false }: UnattendedModelOptions,
  settings: Settings,
): Promise<ResolvedModel> {
  const chosen = await selectStartModel(settings, { named: model, ofSession });
  if (chosen) return isRequested ? { ...chosen.model, isNamed: false } : chosen.model;
  throw (await import('./start-checks.ts')).noModelError(settings, []);
}

/** The list of the configured provider, fetched if it is missing; undefined if the user does not want that. */
async function readOrFetchList(
  settings: Settings,
  name: string | undefined,
  endpoint: ModelEndpoint | undefined,
  { chooser, refresh = false, onWarning, signal }: StartModelOptions,
): Promise<readonly KnownModel[] | undefined> {
  const known = readKnownModels(settings) ?? [];
  if (!endpoint || (!refresh && (known.length > 0 || (name !== undefined && namesOtherProvider(name, endpoint)))))
    return known;
  const isFullName = name !== undefined && findModel(name, [], endpoint) !== undefined;
  if (!refresh && isFullName && settings.refresh === 'ask') return known;
  if (!refresh && settings.refresh === 'ask') {
    if (!chooser)
      throw new FairleadError('coding-agent/no-model-list', `The models of ${formatEndpoint(endpoint)} are unknown.`, {
        blame: 'user',
        hint: `Fetch the list first: ${settings.profile.program} --one-shot --refresh-models`,
      });
    if (!(await chooser.confirm(`The models of ${formatEndpoint(endpoint)} are unknown. Fetch the list now?`)))
      return undefined;
  }
  const models = await refreshModels(settings, {
    endpoint,
    onWarning: onWarning ?? ((text) => chooser?.notify(text)),
    ...(signal ? { signal } : {}),
  }).catch((error: unknown) => {
    // A full name can be used without a list; its first request fails with the reason, and the prompt is saved.
    if (isFullName && !refresh) return [];
    throw error;
  });
  if (models.length === 0 && isFullName) return models;
  chooser?.notify(`${models.length} model${models.length === 1 ? '' : 's'} at ${formatEndpoint(endpoint)}.`);
  return models;
}

/** A model of another provider needs no list of this one. */
function namesOtherProvider(name: string, endpoint: ModelEndpoint): boolean {
  if (resolveEmbeddedName(name) || isTestModel(name)) return true;
  const family = name.includes('/') ? findFamily(name.slice(0, name.indexOf('/'))) : undefined;
  return family !== undefined && family !== findFamily(endpoint.provider);
}

/** The scripted and the replayed models of `fairlead/testing`. */
const isTestModel = (name: string): boolean => /^(scripted|replay)\//.test(name);

function findWanted(name: string, settings: Settings): ResolvedModel | undefined {
  const found = lookUpModel(name, settings);
  if (found) return found;
  const isUnlisted = settings.provider === undefined && name.includes('/') && !findFamily(name.split('/')[0] ?? '');
  // Without a list an unknown provider is an error of the registry, which suggests a name.
  return isTestModel(name) || (isUnlisted && (readKnownModels(settings) ?? []).length === 0)
    ? { name, ref: parseModelRef(name) }
    : undefined;
}

/** A model with this name on a server of this machine; nothing else is contacted. */
async function findOnThisMachine(
  name: string,
  settings: Settings,
  signal: AbortSignal | undefined,
): Promise<ResolvedModel | undefined> {
  if (findFamily(name) || name.includes('/')) return undefined;
  const { findModelSources } = await import('./model-sources.ts');
  const sources = await findModelSources(settings, signal ? { signal } : {});
  const models = sources.flatMap(({ how, models: list = [] }) => (how === 'server' ? list : []));
  const model = models.find(({ id }) => id === name);
  return model && { ...toResolvedModel(model, models), isNamed: true };
}
