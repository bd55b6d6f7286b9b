// The way in which an endpoint of OpenAI's says what a run says.
import type { WireStreamEvent } from '../../wire/index.ts';
import type { JsonObject } from '../../core/index.ts';
import type { HttpErrorResponse } from '../http/errors.ts';
import type { CompletionResult } from './completion-result.ts';

/** A way to say what a run says: whole, or in pieces. */
export type ResponseEncoder = {
  readonly encodeWhole: (told: CompletionResult) => JsonObject;
  readonly encodeStart: () => readonly WireStreamEvent[];
  readonly encodeDelta: (text: string) => readonly WireStreamEvent[];
  /** What ends a stream; the text is what was said in it. */
  readonly encodeEnd: (told: CompletionResult) => readonly WireStreamEvent[];
  /** What ends a stream that has nothing to end with. */
  readonly encodeError: (refusal: HttpErrorResponse) => WireStreamEvent;
};
