// The way in which an endpoint of OpenAI's says what a run says.
import type { StreamEvent } from '../../bridges/dialects/dialect.ts';
import type { JsonObject } from '../../core/index.ts';
import type { Refusal } from '../faults.ts';
import type { Told } from './ending.ts';

/** A way to say what a run says: whole, or in pieces. */
export type Saying = {
  readonly whole: (told: Told) => JsonObject;
  readonly opening: () => readonly StreamEvent[];
  readonly delta: (text: string) => readonly StreamEvent[];
  /** What ends a stream; the text is what was said in it. */
  readonly closing: (told: Told) => readonly StreamEvent[];
  /** What ends a stream that has nothing to end with. */
  readonly failure: (refusal: Refusal) => StreamEvent;
};
