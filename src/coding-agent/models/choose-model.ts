// Asks the user which model to use: lists what was found with where the text would go, servers on this machine first; a key is used only after the user chose its provider.
import { errorMessage, formatError } from '../../core/index.ts';
import { findFamily } from '../../providers/index.ts';
import { readAllKnownModels, refreshModels, type KnownModel, type ModelEndpoint } from '../state/index.ts';
import type { Settings } from '../settings/index.ts';
import { findModelSources, formatDestination, type ModelSource } from './model-sources.ts';
import { formatEndpoint, toResolvedModel, type ResolvedModel } from './resolve-model.ts';

/** A row of a list of models. */
export type ModelChoice = { readonly value: string; readonly label: string; readonly description?: string };

/** Shows lists and questions to the user while a model is chosen. */
export type ModelChooser = {
  pick(title: string, choices: readonly ModelChoice[]): Promise<string | undefined>;
  confirm(question: string): Promise<boolean>;
  notify(text: string): void;
  /** Shows progress; each text replaces the one before, and an empty text removes it. */
  progress(text: string): void;
  /** Lets the user enter a key; returns the provider and the settings with the key, or undefined if the user cancelled. */
  login?(): Promise<{ readonly provider: string; readonly settings: Settings } | undefined>;
};

/** The chosen model, and the settings, which a key that the user entered has changed. */
export type ChosenModel = {
  readonly model: ResolvedModel;
  readonly settings: Settings;
  /** Whether the user picked it from the list of a start: after a cancelled download the list is shown again. */
  readonly isPicked?: boolean;
};

/** What the list is limited to, and why the user is asked. */
export type ChooseModelOptions = {
  /** Why the wanted model cannot be used. */
  readonly problem?: string;
  /** Only the models of this provider. */
  readonly endpoint?: ModelEndpoint;
  readonly signal?: AbortSignal;
};

/** Asks the user for a model until one is chosen; undefined if the user leaves. */
export async function chooseModel(
  settings: Settings,
  chooser: ModelChooser,
  { problem, endpoint, signal }: ChooseModelOptions = {},
): Promise<ChosenModel | undefined> {
  if (endpoint) return chooseOfProvider(settings, chooser, endpoint, problem);
  let current = settings;
  for (let title = problem === undefined ? 'No model configured.' : problem; ; title = 'No model configured.') {
    const sources = await findWithProgress(current, chooser, signal);
    if (signal?.aborted) return undefined;
    const isEmpty = sources.every(({ how }) => how === 'embedded');
    if (isEmpty)
      chooser.notify(
        'No model server answers on this machine, and no key is set. Try fairlead demo: a tour that needs no model.',
      );
    const picked = await chooser.pick(`${title} Choose one; the right column says where your text goes:`, [
      ...listModelChoices(sources, current),
      ...listOtherChoices(chooser),
      { value: 'exit', label: 'Exit' },
    ]);
    if (picked === undefined || picked === 'exit') return undefined;
    const chosen = await takeChoice(picked, sources, current, chooser, signal);
    if (chosen && 'model' in chosen) return { ...chosen, isPicked: true };
    if (chosen) current = chosen.settings;
  }
}

/** Finds the usable providers, with progress while servers are waited for. */
export async function findWithProgress(
  settings: Settings,
  chooser: Pick<ModelChooser, 'progress' | 'notify'>,
  signal?: AbortSignal,
): Promise<readonly ModelSource[]> {
  const sources = await findModelSources(settings, {
    onProgress: (text) => chooser.progress(text),
    ...(signal ? { signal } : {}),
  });
  chooser.progress('');
  for (const { endpoint, models, problem } of sources) {
    if (problem !== undefined)
      chooser.notify(`${formatEndpoint(endpoint)} answers, but does not list its models: ${problem}`);
    if (models?.length === 0)
      chooser.notify(
        `${formatEndpoint(endpoint)} has no models yet.${endpoint.provider === 'ollama' ? ' Get one: ollama pull qwen3:8b' : ''}`,
      );
  }
  return sources;
}

/** The rows after the models: a key, and a model that is downloaded. */
export const listOtherChoices = (chooser: ModelChooser): readonly ModelChoice[] => [
  ...(chooser.login
    ? [{ value: 'login', label: 'Enter a key', description: 'of a company, or of your own server' }]
    : []),
  {
    value: 'embedded',
    label: 'Download a small model',
    description: 'this machine · needs no key and no server',
  },
];

/** The rows of a list of models, grouped by provider, each with where the text would go. A provider that was not asked yet has one row. */
export function listModelChoices(sources: readonly ModelSource[], { env }: Settings): readonly ModelChoice[] {
  return sources.flatMap(({ provider: name, how, reason, endpoint, destination, models }) => {
    if (how === 'embedded') return [];
    if (!models)
      return [
        {
          value: `list:${name}`,
          label: `${name} …`,
          description: `${destination} · ${reason}`,
        },
      ];
    const able = models.filter(({ tools }) => tools !== false);
    const others = models.filter(({ tools }) => tools === false);
    return [...able, ...others].map(({ id, provider, tools }) => ({
      value: `model:${provider}/${id}`,
      label: `${provider}/${id}`,
      description: `${formatDestination({ ...endpoint, model: id }, env)}${tools === false ? ' · cannot call tools' : ''}`,
    }));
  });
}

/** Carries out a choice: a model, new settings after a login, or undefined if the list is shown again. */
export async function takeChoice(
  picked: string,
  sources: readonly ModelSource[],
  settings: Settings,
  chooser: ModelChooser,
  signal?: AbortSignal,
): Promise<ChosenModel | { readonly settings: Settings } | undefined> {
  const models = sources.flatMap(({ models: list = [] }) => list);
  const model = models.find(({ id, provider }) => picked === `model:${provider}/${id}`);
  if (model) return { model: { ...toResolvedModel(model, models), isNamed: true }, settings };
  if (picked === 'embedded') {
    const { chooseEmbedded } = await import('./choose-embedded.ts');
    const embedded = await chooseEmbedded(chooser, signal);
    return embedded && { model: embedded, settings };
  }
  if (picked === 'login') {
    const entered = await chooser.login?.();
    if (!entered) return undefined;
    const chosen = await chooseOfProvider(entered.settings, chooser, { provider: entered.provider });
    return chosen ?? { settings: entered.settings };
  }
  const source = sources.find(({ provider }) => picked === `list:${provider}`);
  return source && (await chooseOfProvider(settings, chooser, source.endpoint));
}

/** Lists the models of one provider, which the user chose, and lets the user pick one; undefined if there is none or the user cancels. */
async function chooseOfProvider(
  settings: Settings,
  chooser: ModelChooser,
  endpoint: ModelEndpoint,
  problem?: string,
): Promise<ChosenModel | undefined> {
  const known = await listOrExplain(settings, chooser, endpoint);
  if (!known) return undefined;
  if (known.length === 0) {
    chooser.notify(`${formatEndpoint(endpoint)} has no models.`);
    return undefined;
  }
  const where = formatDestination(endpoint, settings.env);
  const title = problem === undefined ? `Which model? Your text goes to ${where}.` : `${problem} Which one instead?`;
  const picked = await chooser.pick(
    title,
    known.map(({ id, tools }) => ({
      value: id,
      label: id,
      ...(tools === false ? { description: 'cannot call tools' } : {}),
    })),
  );
  const model = known.find(({ id }) => id === picked);
  return model && { model: { ...toResolvedModel(model), isNamed: true }, settings };
}

async function listOrExplain(
  settings: Settings,
  chooser: ModelChooser,
  endpoint: ModelEndpoint,
): Promise<readonly KnownModel[] | undefined> {
  const provider = findFamily(endpoint.provider)?.name;
  const cached = readAllKnownModels(settings).filter((model) => model.provider === provider);
  if (cached.length > 0) return cached;
  try {
    return await refreshModels(settings, { endpoint, onWarning: (text) => chooser.notify(text) });
  } catch (error) {
    chooser.notify(error instanceof Error ? formatError(error) : errorMessage(error));
    return undefined;
  }
}
