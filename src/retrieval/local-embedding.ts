// An embedding model in this process, by the package @huggingface/transformers: optional, and loaded only if the user installed it.
import { FairleadError } from '../core/index.ts';
import { withEmbeddingPrefixes } from './embedding-prefixes.ts';
import type { EmbeddingModel } from './types.ts';

/** The name of the optional package, as users install it. */
const localPackage = '@huggingface/transformers';

/** The model that is used if none is named: 23 MB, 384 values, English. */
export const defaultLocalModel = 'Xenova/all-MiniLM-L6-v2';

/** The members of the package that are used. */
type TransformersPackage = {
  pipeline(
    task: 'feature-extraction',
    model: string,
  ): Promise<
    (
      texts: readonly string[],
      options: { readonly pooling: 'mean'; readonly normalize: true },
    ) => Promise<{ tolist(): number[][] }>
  >;
};

/** Opens a local embedding model; its weights are downloaded by the package at the first use. `load` replaces the package. */
export async function openLocalEmbedding(
  model: string = defaultLocalModel,
  load: () => Promise<TransformersPackage> = () => import(localPackage) as Promise<TransformersPackage>,
): Promise<EmbeddingModel> {
  let library: TransformersPackage;
  try {
    library = await load();
  } catch (error) {
    throw new FairleadError(
      'retrieval/no-local-model',
      `A local embedding model needs the package ${localPackage}, which is not installed.`,
      {
        blame: 'user',
        hint: `Install it beside this program (npm install ${localPackage}), or use a model of a server, such as ollama/nomic-embed-text.`,
        cause: error,
      },
    );
  }
  let extractor: ReturnType<TransformersPackage['pipeline']> | undefined;
  return withEmbeddingPrefixes({
    name: `local/${model}`,
    async embed(texts, signal) {
      signal.throwIfAborted();
      extractor ??= library.pipeline('feature-extraction', model);
      return (await (await extractor)(texts, { pooling: 'mean', normalize: true })).tolist();
    },
  });
}
