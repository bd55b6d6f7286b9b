// One request to a model without tools: the port that judges, reviewers and readers of untrusted text are asked by, and how their JSON is read.
import type { UsageTotals } from './fact.ts';
import type { Json, JsonObject } from './json.ts';
import type { Price } from './ports.ts';

/** One request to a model without tools, and its answer. */
export type AskModel = (
  request: {
    readonly system: string;
    readonly prompt: string;
    readonly temperature?: number;
    readonly outputSchema?: JsonObject;
    /** The maximum number of tokens of a short answer, without reasoning. What such an answer has so far is returned if it is cut off. */
    readonly maxOutputTokens?: number;
  },
  signal: AbortSignal,
) => Promise<{ readonly text: string; readonly spent: Partial<UsageTotals> }>;

/** A model that is asked without tools. */
export type AskedModel = {
  readonly name: string;
  /** The price; absent if unknown, which does not mean free. */
  readonly price?: Price;
  readonly ask: AskModel;
};

/** A longer response is not read. */
const maxResponseLength = 400_000;

/** Returns the JSON value of a response: the whole text, or the text of one fenced block. Undefined if it is no JSON. */
export function parseJsonResponse(text: string): Json | undefined {
  if (text.length > maxResponseLength) return undefined;
  const trimmed = text.trim();
  const fence = /^```(?:json)?[ \t]*\r?\n/.exec(trimmed)?.[0];
  const body = fence !== undefined && trimmed.endsWith('```') ? trimmed.slice(fence.length, -3) : trimmed;
  try {
    return JSON.parse(body) as Json;
  } catch {
    return undefined;
  }
}
