// A model as a function that answers one prompt without tools: for answers from documents, judges and other questions beside a conversation.
import {
  createPersistentList,
  FairleadError,
  isValidCost,
  isValidUsage,
  messageText,
  usageCost,
  type Json,
  type Message,
  type ModelRequest,
  type Provider,
  type UsageTotals,
} from '../core/index.ts';

/** One request, and its answer. */
export type AskProvider = (
  request: {
    readonly system: string;
    readonly prompt: string;
    readonly temperature?: number;
    readonly outputSchema?: { readonly [key: string]: Json };
  },
  signal: AbortSignal,
) => Promise<{ readonly text: string; readonly spent: Partial<UsageTotals> }>;

/** Returns the function that sends one prompt to a provider. */
export const createAskModel =
  (provider: Provider, settings: ModelRequest['settings'] = {}): AskProvider =>
  async ({ system, prompt, temperature, outputSchema }, signal) => {
    const start = performance.now();
    const request: ModelRequest = {
      system,
      tools: [],
      messages: createPersistentList<Message>([{ role: 'user', parts: [{ type: 'text', text: prompt }] }]),
      toolChoice: 'auto',
      settings: { ...settings, ...(temperature === undefined ? {} : { temperature }) },
      ...(outputSchema ? { outputSchema } : {}),
    };
    for await (const chunk of provider.stream(request, signal)) {
      if (chunk.type !== 'end') continue;
      const usage = isValidUsage(chunk.usage) ? chunk.usage : {};
      const usd = isValidCost(chunk.usd) ? chunk.usd : provider.price && usageCost(provider.price, usage);
      return {
        text: messageText(chunk.message),
        spent: {
          turns: 1,
          input: usage.input ?? 0,
          output: usage.output ?? 0,
          cacheRead: usage.cacheRead ?? 0,
          cacheWrite: usage.cacheWrite ?? 0,
          usd: usd ?? 0,
          turnsWithoutPrice: usd === undefined ? 1 : 0,
          ms: Math.round(performance.now() - start),
        },
      };
    }
    throw new FairleadError('provider/no-answer', `${provider.model} ended without an answer.`, {
      blame: 'provider',
      retry: true,
    });
  };
