// A model as an author or judge of verification: one request without tools, its text and its cost.
import { getModelFamily, unknownFamily, type VerifyModel } from '../../checks/index.ts';
import {
  createPersistentList,
  FairleadError,
  messageText,
  usageCost,
  type Message,
  type ModelSettings,
  type Provider,
} from '../../core/index.ts';

/** Some models always produce reasoning tokens, which count as output. */
const defaultOutputTokens = 8000;

/** Creates a model of verification from an open provider. `name` is the name as the user knows it, `provider` the name of its provider. */
export function createVerifyModel(
  name: string,
  opened: Provider,
  provider?: string,
  modelSettings: ModelSettings = {},
): VerifyModel {
  const family = getModelFamily(opened.model, provider ?? opened.family);
  return {
    name,
    // A short name of the user says nothing about the model behind it.
    family: family === unknownFamily ? getModelFamily(name, provider) : family,
    ...(opened.price ? { price: opened.price } : {}),
    async ask({ system, prompt, temperature, outputSchema, maxOutputTokens }, signal) {
      const isShort = maxOutputTokens !== undefined;
      const request = {
        system,
        tools: [],
        messages: createPersistentList<Message>([{ role: 'user', parts: [{ type: 'text', text: prompt }] }]),
        toolChoice: 'auto' as const,
        settings: {
          ...modelSettings,
          ...(isShort ? { reasoning: 'none' as const } : {}),
          maxOutputTokens: maxOutputTokens ?? defaultOutputTokens,
          ...(temperature === undefined ? {} : { temperature }),
        },
        ...(outputSchema ? { outputSchema } : {}),
      };
      for await (const chunk of opened.stream(request, signal)) {
        if (chunk.type !== 'end') continue;
        if (chunk.finishReason === 'length' && !isShort)
          throw new FairleadError('verify/truncated', `The response of ${name} was cut off.`, { blame: 'model' });
        const usd = chunk.usd ?? (opened.price && usageCost(opened.price, chunk.usage));
        const { input, output, cacheRead, cacheWrite } = chunk.usage;
        return {
          text: messageText(chunk.message),
          spent: {
            ...(input === undefined ? {} : { input }),
            ...(output === undefined ? {} : { output }),
            ...(cacheRead === undefined ? {} : { cacheRead }),
            ...(cacheWrite === undefined ? {} : { cacheWrite }),
            ...(usd === undefined ? { turnsWithoutPrice: 1 } : { usd }),
          },
        };
      }
      throw new FairleadError('verify/no-response', `${name} gave no response.`, { blame: 'provider' });
    },
  };
}
