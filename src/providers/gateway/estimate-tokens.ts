// How many tokens a request is likely to hold: each message is counted once, however often it is sent.
import { estimateTokens, modelText, type Message, type ModelRequest } from '../../core/index.ts';

type TokenCount = { readonly length: number; readonly tokens: number };

/** Versions of a history share their items, and each is at least as long as the one before. */
const countsByHistory = new WeakMap<readonly Message[], TokenCount>();

/** The request's tokens, estimated. */
export function estimateRequestTokens({ system, tools, messages, settings }: ModelRequest): number {
  const known = countsByHistory.get(messages.items);
  let { length, tokens } = known && known.length <= messages.length ? known : { length: 0, tokens: 0 };
  for (; length < messages.length; length++) tokens += estimateTokens(modelText(messages.items[length] as Message));
  countsByHistory.set(messages.items, { length, tokens });
  return tokens + estimateTokens(system) + estimateTokens(JSON.stringify(tools)) + (settings.maxOutputTokens ?? 0);
}
