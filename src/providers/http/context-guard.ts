// Checks before sending that a request fits the context window: a server that truncates silently would answer another request.
import { FairleadError, type Message, type ModelRequest, type Usage } from '../../core/index.ts';
import type { ProviderInfo } from './errors.ts';

/** Estimates the tokens of a request from its characters and from the last count of the server. */
export interface ContextGuard {
  /** Throws `provider/context-too-long` if the request does not fit. */
  check(request: ModelRequest, chars: number): void;
  /** Stores the token count of the server for a request of this many characters. */
  learn(request: ModelRequest, chars: number, usage: Usage): void;
}

/** Tokens reserved for the response if the request sets no limit. */
const minOutputTokens = 256;
/** Tokens per character until the server has reported a count. */
const defaultTokensPerChar = 1 / 4;
/** Lower bound, because some servers do not count cached tokens. */
const minTokensPerChar = 1 / 8;
/** In shorter requests the fixed overhead outweighs the text, so they do not change the ratio. */
const minCalibrationChars = 2000;

/** Creates a guard; without a window, every request fits. */
export function createContextGuard(providerInfo: ProviderInfo, window: number | undefined): ContextGuard {
  const counted = new WeakMap<readonly Message[], { readonly chars: number; readonly tokens: number }>();
  let ratio = defaultTokensPerChar;
  return {
    check({ messages, settings }, chars) {
      if (window === undefined) return;
      const known = counted.get(messages.items);
      const tokens = known && known.chars <= chars ? known.tokens + (chars - known.chars) * ratio : chars * ratio;
      const availableTokens = window - Math.min(settings.maxOutputTokens ?? minOutputTokens, Math.floor(window / 4));
      if (tokens <= availableTokens) return;
      throw new FairleadError(
        'provider/context-too-long',
        `This request needs about ${Math.ceil(tokens)} tokens, but ${providerInfo.name} accepts ${availableTokens} in addition to the response (window ${window}); it was not sent.`,
        { blame: 'user', hint: 'Compact the conversation, or set a larger context window if the model has one.' },
      );
    },
    learn({ messages }, chars, { input }) {
      if (window === undefined || input === undefined || input <= 0) return;
      const tokens = Math.max(input, chars * minTokensPerChar);
      counted.set(messages.items, { chars, tokens });
      if (chars >= minCalibrationChars) ratio = Math.min(1, tokens / chars);
    },
  };
}
