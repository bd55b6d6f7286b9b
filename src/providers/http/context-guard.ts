// Whether a request fits a context window, judged before it is sent: a server that cuts silently would answer a question nobody asked.
import { FairleadError, type Message, type ModelRequest, type Usage } from '../../core/index.ts';
import type { ProviderInfo } from './errors.ts';

/** Guesses the tokens of a request from its characters and from what the server counted last time. */
export interface ContextGuard {
  /** Throws `provider/context-too-long` if the request cannot fit. */
  check(request: ModelRequest, chars: number): void;
  /** Remembers what the server counted for a request of this many characters. */
  learn(request: ModelRequest, chars: number, usage: Usage): void;
}

/** Room that is kept for an answer when no limit of its own is set. */
const minOutputTokens = 256;
/** Tokens a character is worth until the server has counted some. */
const defaultTokensPerChar = 1 / 4;
/** A server that leaves out what it had cached counts less than can be true. */
const minTokensPerChar = 1 / 8;
/** Shorter requests say more about the frame around them than about their text. */
const minCalibrationChars = 2000;

/** Watches over a window; without one, everything fits. */
export function createContextGuard(who: ProviderInfo, window: number | undefined): ContextGuard {
  const counted = new WeakMap<readonly Message[], { readonly chars: number; readonly tokens: number }>();
  let ratio = defaultTokensPerChar;
  return {
    check({ messages, settings }, chars) {
      if (window === undefined) return;
      const known = counted.get(messages.items);
      const tokens = known && known.chars <= chars ? known.tokens + (chars - known.chars) * ratio : chars * ratio;
      const room = window - Math.min(settings.maxOutputTokens ?? minOutputTokens, Math.floor(window / 4));
      if (tokens <= room) return;
      throw new FairleadError(
        'provider/context-too-long',
        `This request needs about ${Math.ceil(tokens)} tokens, and ${who.name} takes ${room} beside the answer (window ${window}), so it was not sent.`,
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
