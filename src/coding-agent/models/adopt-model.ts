// Makes a chosen model the default of later starts once it has answered a short request.
import { createPersistentList } from '../../core/index.ts';
import { saveLastModel } from '../state/index.ts';
import type { ChosenModel } from './choose-model.ts';
import { openModel, type ModelHost } from './open-model.ts';

/** Sends a short request to a model; saves the model as the default if it answers, and throws the error if it does not. Returns a warning if it could not be saved. */
export async function adoptModel({ model, settings }: ChosenModel, host: ModelHost): Promise<string | undefined> {
  const provider = await openModel(model, settings, host);
  const request = {
    system: '',
    tools: [],
    messages: createPersistentList([
      { role: 'user', parts: [{ type: 'text', text: 'Answer with one word: ready' }] } as const,
    ]),
    toolChoice: 'none' as const,
    settings: {},
  };
  const signal = host.signal ?? new AbortController().signal;
  for await (const chunk of provider.stream(request, signal)) if (chunk.type === 'end') break;
  return saveLastModel(settings, `${model.ref.provider}/${model.ref.model}`);
}
