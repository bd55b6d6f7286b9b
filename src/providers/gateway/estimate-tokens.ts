// Estimates the tokens of a request; each message is counted once and cached.
import { estimateTokens, modelText, type Message, type ModelRequest } from '../../core/index.ts';

type TokenCount = { readonly length: number; readonly tokens: number };

/** Versions of a history share their items, and each is at least as long as the previous one. */
const countsByHistory = new WeakMap<readonly Message[], TokenCount>();

/** Estimates the tokens of a request. */
export function estimateRequestTokens({ system, tools, messages, settings }: ModelRequest): number {
  const known = countsByHistory.get(messages.items);
  let { length, tokens } = known && known.length <= messages.length ? known : { length: 0, tokens: 0 };
  for (; length < messages.length; length++) tokens += estimateTokens(modelText(messages.items[length] as Message));
  countsByHistory.set(messages.items, { length, tokens });
  return tokens + estimateTokens(system) + estimateTokens(JSON.stringify(tools)) + (settings.maxOutputTokens ?? 0);
}
