// Adds the missing vectors of an index with an embedding model, and embeds queries.
import { errorMessage, FairleadError } from '../core/index.ts';
import { normalizeVector } from './storage/vectors.ts';
import type { EmbeddingModel, IndexStorage } from './types.ts';

/** Passages per request to the model. */
const batchSize = 64;
/** Max characters of a passage that are embedded: models read a few hundred words. */
const maxEmbeddedChars = 4000;

/** Embeds up to `limit` passages without a vector. Vectors of another model are removed first. Returns how many were added. */
export async function embedMissing(
  storage: IndexStorage,
  model: EmbeddingModel,
  {
    limit = Number.POSITIVE_INFINITY,
    signal,
    onProgress,
  }: { readonly limit?: number; readonly signal: AbortSignal; readonly onProgress?: (done: number) => void },
): Promise<number> {
  if ((await storage.embeddingName()) !== model.name) await storage.resetVectors(model.name);
  let done = 0;
  while (done < limit) {
    signal.throwIfAborted();
    const passages = await storage.withoutVector(Math.min(batchSize, limit - done));
    if (passages.length === 0) break;
    const texts = passages.map(({ title, text }) =>
      `${title === '' ? '' : `${title}\n`}${text}`.slice(0, maxEmbeddedChars),
    );
    const vectors = await embedTexts(model, texts, signal, 'document');
    await storage.addVectors(
      model.name,
      passages.map(({ key }, i) => ({ key, vector: vectors[i] ?? zeroVector })),
    );
    // Another process may have chosen another model meanwhile; then these vectors were not stored, and never would be.
    if ((await storage.embeddingName()) !== model.name)
      throw embeddingError(model, 'the index got vectors of another model meanwhile');
    done += passages.length;
    onProgress?.(done);
  }
  return done;
}

/** A passage whose text has no vector, such as an empty one, is stored so that it is not embedded again; it is near nothing. */
const zeroVector = new Float32Array(1);

/** Embeds a query; undefined if its text has no vector. */
export const embedQuery = async (
  model: EmbeddingModel,
  query: string,
  signal: AbortSignal,
): Promise<Float32Array | undefined> =>
  (await embedTexts(model, [query.slice(0, maxEmbeddedChars)], signal, 'query'))[0];

/** Returns vectors of length 1, one per text. Throws if the model returns something else. */
async function embedTexts(
  model: EmbeddingModel,
  texts: readonly string[],
  signal: AbortSignal,
  purpose: 'query' | 'document',
): Promise<readonly (Float32Array | undefined)[]> {
  let vectors: readonly (readonly number[] | Float32Array)[];
  try {
    vectors = await model.embed(texts, signal, purpose);
  } catch (error) {
    if (error instanceof FairleadError || signal.aborted) throw error;
    throw embeddingError(model, errorMessage(error), error);
  }
  if (!Array.isArray(vectors) || vectors.length !== texts.length)
    throw embeddingError(
      model,
      `it returned ${Array.isArray(vectors) ? vectors.length : 'no'} vectors for ${texts.length} texts`,
    );
  const lengths = new Set(vectors.map((each) => each?.length ?? 0));
  const expected = model.dimensions ?? vectors[0]?.length ?? 0;
  if (lengths.size !== 1 || !lengths.has(expected) || expected === 0)
    throw embeddingError(model, `its vectors have ${[...lengths].join(' and ')} values; ${expected} were expected`);
  return vectors.map(normalizeVector);
}

const embeddingError = (model: EmbeddingModel, why: string, cause?: unknown): FairleadError =>
  new FairleadError('retrieval/embedding', `The embedding model ${model.name} failed: ${why}.`, {
    blame: 'provider',
    retry: true,
    hint: 'The index was made without new vectors; search by words works.',
    ...(cause === undefined ? {} : { cause }),
  });
