// Adds the prefixes that some embedding models were trained with: without them a question is not near the text that answers it.
import type { EmbeddingModel } from './types.ts';

const searchPrefix = 'Represent this sentence for searching relevant passages: ';

/** The prefixes by the name of the model. */
const prefixes: readonly { readonly model: RegExp; readonly query: string; readonly document: string }[] = [
  { model: /nomic-embed/i, query: 'search_query: ', document: 'search_document: ' },
  { model: /(?:^|[/_-])(?:multilingual-)?e5-/i, query: 'query: ', document: 'passage: ' },
  { model: /bge-(?:small|base|large)-en|mxbai-embed|snowflake-arctic-embed/i, query: searchPrefix, document: '' },
];

/** Returns the model with the prefixes that it was trained with, if its name is known. */
export function withEmbeddingPrefixes(model: EmbeddingModel): EmbeddingModel {
  const known = prefixes.find((each) => each.model.test(model.name));
  if (!known) return model;
  return {
    ...model,
    embed: (texts, signal, purpose = 'document') =>
      model.embed(
        texts.map((text) => known[purpose] + text),
        signal,
        purpose,
      ),
  };
}
