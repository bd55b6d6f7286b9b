// Reads a streamed AI SDK response: text passes at once, tool calls are held.
import type {
  LanguageModelV4Content,
  LanguageModelV4FinishReason,
  LanguageModelV4StreamPart,
  LanguageModelV4Usage,
} from '@ai-sdk/provider';
import { errorMessage } from '../../core/index.ts';
import type { ModelStreamReader } from '../model-intercept/intercept-model.ts';
import { parseAiSdkResponse } from './prompt.ts';

type ContentBlock = Extract<LanguageModelV4Content, { type: 'text' | 'reasoning' }>;

/** Assembles a streamed response. */
export function createAiSdkStreamReader(): ModelStreamReader<LanguageModelV4StreamPart> {
  const blocks = new Map<string, ContentBlock>();
  const content: LanguageModelV4Content[] = [];
  let finish: { finishReason: LanguageModelV4FinishReason; usage: LanguageModelV4Usage } | undefined;
  let failure: Error | undefined;

  function take(part: LanguageModelV4StreamPart): void {
    if (part.type === 'tool-call') content.push(part);
    else if (part.type === 'finish') finish = part;
    else if (part.type === 'error')
      failure = part.error instanceof Error ? part.error : new Error(errorMessage(part.error), { cause: part.error });
    else if (part.type === 'text-start' || part.type === 'reasoning-start') begin(part);
    else if (part.type === 'text-delta' || part.type === 'reasoning-delta') {
      const block = blocks.get(part.id);
      if (block) block.text += part.delta;
    }
    // Signatures of a provider arrive with the end of a block or in the middle of it.
    if ('id' in part && 'providerMetadata' in part && part.providerMetadata) {
      const block = blocks.get(part.id ?? '');
      if (block) block.providerMetadata = part.providerMetadata;
    }
  }

  function begin({ type, id }: LanguageModelV4StreamPart & { type: 'text-start' | 'reasoning-start' }): void {
    const block: ContentBlock = { type: type === 'text-start' ? 'text' : 'reasoning', text: '' };
    blocks.set(id, block);
    content.push(block);
  }

  const open = new Set<string>();
  let shown: readonly string[] | undefined;
  const words = (): readonly string[] => content.flatMap((part) => (part.type === 'text' ? [part.text] : []));
  return {
    push(part) {
      if (isCall(part) || part.type === 'finish') shown ??= words();
      take(part);
      const id = 'id' in part ? part.id : undefined;
      if (!shown && id !== undefined && part.type.endsWith('-start')) open.add(id);
      if (!shown && id !== undefined && part.type.endsWith('-end')) open.delete(id);
      return shown !== undefined;
    },
    response: () =>
      failure ? { reported: failure } : parseAiSdkResponse(content, finish?.finishReason, finish?.usage),
    shownText: () => shown ?? words(),
    closingEvents: (held) =>
      held.filter((part) => {
        if (part.type === 'text-end' || part.type === 'reasoning-end') return open.has(part.id);
        return failure !== undefined && (part.type === 'error' || part.type === 'finish');
      }),
  };
}

const isCall = ({ type }: LanguageModelV4StreamPart): boolean =>
  type === 'tool-call' || type === 'tool-approval-request' || type.startsWith('tool-input-');

/** The parts of a retried response in a started stream: the start part is sent once. */
export const dropStreamStart = (): TransformStream<LanguageModelV4StreamPart, LanguageModelV4StreamPart> =>
  new TransformStream({
    transform(part, controller) {
      if (part.type !== 'stream-start') controller.enqueue(part);
    },
  });
