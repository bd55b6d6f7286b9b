// The error object of OpenAI chat completions and responses.
import type { JsonObject } from '../../core/index.ts';

/** Writes an error object. */
export const writeOpenAiError = (
  message: string,
  { type, param = null, code = null }: OpenAiErrorFields,
): JsonObject & { readonly message: string; readonly param: string | null; readonly code: string | null } => ({
  message,
  type,
  param,
  code,
});

/** The fields that clients use to tell errors apart. */
export type OpenAiErrorFields = {
  readonly type: string;
  readonly param?: string | null;
  readonly code?: string | null;
};
