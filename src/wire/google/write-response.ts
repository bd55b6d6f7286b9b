// Writes Google generateContent responses: a document, or one event of a stream.
import type { JsonObject } from '../../core/index.ts';

/** Writes a response with one candidate; `finish` is present in the last event of a stream only. */
export const writeGoogleResponse = (
  parts: readonly JsonObject[],
  finish: string | undefined,
  usage: JsonObject | undefined,
  extra: { readonly candidate?: JsonObject; readonly response?: JsonObject } = {},
): JsonObject => ({
  candidates: [
    {
      content: parts.length ? { parts, role: 'model' } : {},
      ...(finish === undefined ? {} : { finishReason: finish }),
      ...extra.candidate,
      index: 0,
    },
  ],
  ...(usage ? { usageMetadata: usage } : {}),
  ...extra.response,
});
