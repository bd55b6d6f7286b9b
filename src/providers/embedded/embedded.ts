// Provider for the embedded model, which runs in this process: downloaded once with consent, loaded at the first request.
import { availableParallelism } from 'node:os';
import { FairleadError, type Provider } from '../../core/index.ts';
import { createEmbeddedConversation, type EmbeddedConversation } from './generation.ts';
import { acquireModel, acquireTurn, type ModelLease } from './model-pool.ts';
import { formatDownloadSize, notOnThisMachineError } from './errors.ts';
import type { DownloadOptions } from './download-part.ts';
import { downloadWeights, hasWeights, weightsFile } from './download-weights.ts';
import { isHubAddress } from './hub-address.ts';
import { resolveEmbeddedModel, type EmbeddedModel } from './models.ts';
import { hasRuntime, installRuntime, platformPackage, getNpmRegistry, runtimeBytes, runtimeDirectory } from './npm.ts';
import { dataDirectory } from './data-dir.ts';
import { findBundledRuntime } from './runtime.ts';
import { abortError } from '../http/http.ts';

/** The consent request before a download. */
export type EmbeddedConsentRequest = {
  /** The name of the model. */
  readonly model: string;
  /** A description of the model in one sentence. */
  readonly description: string;
  /** Its license, as its publisher states it. */
  readonly license: string;
  /** The size on disk. */
  readonly bytes: number;
  /** The directory that it is downloaded to. */
  readonly directory: string;
  /** What is downloaded, and where to, in one sentence. */
  readonly announcement: string;
  /** The question to display: the announcement, and whether to download it. */
  readonly question: string;
};

/** The progress of a download. The runtime has no byte count, because npm does not report one. */
export type EmbeddedProgress =
  | { readonly step: 'waiting' }
  | { readonly step: 'runtime'; readonly done: boolean }
  | { readonly step: 'weights'; readonly done: number; readonly total: number };

/** The options of the embedded provider. */
export type EmbeddedOptions = {
  /** `tinyllama`, a model of the Hugging Face hub (`hf:<owner>/<repo>:<quant>`), or the description of another model file. */
  readonly model?: string | EmbeddedModel;
  /** The data directory; by default that of the environment. */
  readonly directory?: string;
  /** Called once before a download; without it nothing is downloaded. */
  readonly consent?: (ask: EmbeddedConsentRequest) => boolean | Promise<boolean>;
  /** Called before a request to the hub for a model that is not on this machine; without it the hub is asked. */
  readonly mayAskHub?: (address: string) => boolean | Promise<boolean>;
  /** Called while files are downloaded. */
  readonly progress?: (progress: EmbeddedProgress) => void;
  /** The number of threads; by default 1 for the smallest model, because two are slower on a busy machine, and half of the cores for a larger one. */
  readonly threads?: number;
  /** Aborts the download. */
  readonly signal?: AbortSignal;
  /** The environment, with `HF_ENDPOINT` and `HF_TOKEN`; by default that of the process. npm gets it without keys of models. */
  readonly env?: NodeJS.ProcessEnv;
};

/** The embedded model as a provider. */
export interface EmbeddedProvider extends Provider {
  /** A description in one sentence. */
  readonly description: string;
  /** The context window in tokens. */
  readonly window: number;
  /** Frees the memory; the next request loads the model again. */
  dispose(): Promise<void>;
}

/** Opens the embedded model: downloads missing files with consent, and loads the model at the first request. */
export async function embeddedProvider(options: EmbeddedOptions = {}): Promise<EmbeddedProvider> {
  const { env = process.env } = options;
  const directory = options.directory ?? dataDirectory(env);
  const own = findBundledRuntime() !== undefined;
  if (!own) platformPackage();
  const model = await prepareModel(options, directory, own);
  const { threads = defaultThreads(model) } = options;
  const home = own ? undefined : runtimeDirectory(directory);
  let open: Promise<{ readonly loan: ModelLease; readonly conversation: EmbeddedConversation }> | undefined;

  async function load(): Promise<{ readonly loan: ModelLease; readonly conversation: EmbeddedConversation }> {
    const loan = await acquireModel(weightsFile(directory, model), home, threads);
    try {
      return { loan, conversation: await createEmbeddedConversation(loan, model, threads) };
    } catch (error) {
      await loan.release();
      throw error;
    }
  }

  /** After an abort the native code finishes its slice before the next answer starts. */
  const settled = async (): Promise<unknown> => (await open)?.conversation.whenIdle();

  return {
    family: 'embedded',
    model: model.name,
    price: { input: 0, output: 0 },
    description: model.description,
    window: model.contextWindow,
    // A model that calls tools in its own format works over many turns, so the loop compacts in time.
    ...(model.toolFormat === undefined ? {} : { contextWindow: model.contextWindow }),
    supportsImages: false,
    async *stream(request, signal) {
      const release = await acquireTurn(signal);
      // An aborted consumer may never request the next chunk: then no native work is active, and the model is released.
      let idle = false;
      const quit = (): void => void (idle && release());
      signal.addEventListener('abort', quit, { once: true });
      try {
        open ??= load();
        const { conversation } = await open.catch((error: unknown) => {
          open = undefined;
          throw error;
        });
        for await (const chunk of conversation.generate(request, signal)) {
          idle = true;
          yield chunk;
          idle = false;
          if (signal.aborted && chunk.type !== 'end') throw abortError(signal);
        }
      } catch (error) {
        throw error instanceof FairleadError ? error : generationFailedError(error);
      } finally {
        signal.removeEventListener('abort', quit);
        void settled().then(release, release);
      }
    },
    async dispose() {
      const release = await acquireTurn(new AbortController().signal);
      try {
        const { loan, conversation } = (await open) ?? {};
        open = undefined;
        await conversation?.dispose();
        await loan?.release();
      } finally {
        release();
      }
    },
  };
}

const defaultThreads = ({ toolFormat }: EmbeddedModel): number =>
  toolFormat === undefined ? 1 : Math.max(1, Math.floor(availableParallelism() / 2));

/** Describes the model and downloads what is missing. A model of the hub is described by the hub, and then by its own file. */
async function prepareModel(options: EmbeddedOptions, directory: string, own: boolean): Promise<EmbeddedModel> {
  const { model: requested, signal, env = process.env } = options;
  if (typeof requested !== 'string' || !isHubAddress(requested)) {
    const model = resolveEmbeddedModel(requested);
    await downloadMissing(model, directory, own, options);
    return model;
  }
  const [{ findDownloadedModel, fetchHubModel, finishHubModel }, { authorizeHubUrl }] = await Promise.all([
    import('./hub-model.ts'),
    import('./hub.ts'),
  ]);
  const downloaded = await findDownloadedModel(requested, directory);
  if (!downloaded && (await options.mayAskHub?.(requested)) === false) throw notOnThisMachineError(requested);
  const described = downloaded ?? (await fetchHubModel(requested, { env, signal }));
  await downloadMissing(described, directory, own, options, (url) => authorizeHubUrl(url, env));
  return finishHubModel(requested, directory, described, signal);
}

async function downloadMissing(
  model: EmbeddedModel,
  directory: string,
  own: boolean,
  { consent, progress, signal, env = process.env }: EmbeddedOptions,
  authorize?: DownloadOptions['authorize'],
): Promise<void> {
  const runtime = !own && !hasRuntime(directory);
  const weights = !(await hasWeights(directory, model));
  if (!runtime && !weights) return;
  const bytes = (runtime ? runtimeBytes : 0) + (weights ? model.bytes : 0);
  const { name, description, license } = model;
  const announcement = `${description} Downloads ${formatDownloadSize(bytes)} to ${directory} (license ${license}).`;
  const question = `${announcement} Download it now?`;
  const agreed = await consent?.({ model: name, description, license, bytes, directory, announcement, question });
  if (!agreed)
    throw new FairleadError('embedded/no-consent', `The model ${name} is not on this machine and was not downloaded.`, {
      blame: 'user',
      hint: `Agree to download ${formatDownloadSize(bytes)} (naming the model with --model agrees), set a key such as ANTHROPIC_API_KEY, or start a model server such as Ollama.`,
    });
  const npm = { directory, env, signal, onWait: () => progress?.({ step: 'waiting' }) };
  if (runtime) {
    progress?.({ step: 'runtime', done: false });
    await installRuntime(npm);
    progress?.({ step: 'runtime', done: true });
  }
  if (!weights) return;
  await downloadWeights(model, {
    ...npm,
    registry: () => getNpmRegistry(npm),
    authorize,
    progress: (done, total) => progress?.({ step: 'weights', done, total }),
  });
}

const generationFailedError = (cause: unknown): FairleadError =>
  new FairleadError('embedded/failed', 'The embedded model failed in the middle of an answer.', {
    blame: 'provider',
    retry: true,
    hint: 'Try again; if it stays so, free some memory or delete the model file so that it is fetched again.',
    cause,
  });
