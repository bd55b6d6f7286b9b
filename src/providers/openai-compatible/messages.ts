// Messages as chat completions wants them. What another family's model left behind is dropped.
import type { ToolCallPart, FilePart, Json, Message, MessagePart, ReasoningPart } from '../../core/index.ts';
import type { ChatCompat } from './compat.ts';
import { toolResultFileParts } from '../http/images.ts';
import { withTextField, type MessageEncoder } from '../http/encode-messages.ts';

type WireObject = { readonly [key: string]: unknown };

/** Encodes the messages of a conversation for one family. */
export function createChatMessageEncoder(family: string, quirks: ChatCompat): MessageEncoder {
  const bridged = quirks.userAfterTool ? [] : [fillerMessage];
  return (message, before) => {
    if (message.role === 'tool') {
      const beside = toolResultFileParts(message);
      const shown = beside.length > 0 ? [...bridged, { role: 'user', content: userContent(beside) }] : [];
      return [...message.parts.map(encodeToolMessage), ...shown];
    }
    if (message.role === 'assistant') return [encodeAssistantMessage(message, family, quirks)];
    const user = { role: 'user', content: userContent(message.parts) };
    if (before?.role !== 'tool') return [user];
    // Pictures of results already stand in a message of the user's side: no second one may follow it directly.
    const follows = toolResultFileParts(before).length > 0;
    return [...(follows ? [fillerMessage] : bridged), user];
  };
}

/** Stands between tool results and a user's words for servers that want the model to speak first. */
const fillerMessage: WireObject = { role: 'assistant', content: '(the user adds something)' };

function encodeToolMessage(part: MessagePart): object {
  if (part.type !== 'tool-result') return { role: 'user', content: userContent([part]) };
  return withTextField({ role: 'tool', tool_call_id: part.id }, 'content', part);
}

function encodeAssistantMessage(message: Message, family: string, quirks: ChatCompat): WireObject {
  const { parts } = message;
  const texts = parts.filter((part) => part.type === 'text');
  const calls = parts.filter((part) => part.type === 'tool-call');
  const text = texts.map((part) => part.text).join('');
  const thoughts = parts.filter((part) => part.type === 'reasoning').filter((part) => part.meta?.family === family);
  const own = texts.find((part) => part.meta?.family === family)?.meta?.data ?? {};
  const spoken = text === '' && calls.length > 0 ? null : text;
  return {
    role: 'assistant',
    content: quirks.reasoningField === 'chunks' && thoughts.length > 0 ? thinkingChunks(thoughts, text) : spoken,
    ...reasoningFields(thoughts, quirks),
    ...own,
    ...(calls.length > 0 ? { tool_calls: calls.map((call) => encodeToolCall(call, family)) } : {}),
  };
}

function encodeToolCall(call: ToolCallPart, family: string): WireObject {
  return {
    id: call.id,
    type: 'function',
    function: { name: sanitizeToolName(call.tool), arguments: JSON.stringify(call.input) },
    ...(call.meta?.family === family ? call.meta.data : {}),
  };
}

/** A name that no model should have used would make every later request illegal. */
export const sanitizeToolName = (name: string): string =>
  /^[\w-]{1,64}$/.test(name) ? name : name.replaceAll(/[^\w-]/g, '_').slice(0, 64) || 'unnamed';

const thinkingChunks = (thoughts: readonly ReasoningPart[], text: string): readonly WireObject[] => [
  ...thoughts.map((each) => ({ type: 'thinking', thinking: [{ type: 'text', text: each.text }] })),
  ...(text === '' ? [] : [{ type: 'text', text }]),
];

function reasoningFields(thoughts: readonly ReasoningPart[], { reasoningField: how }: ChatCompat): WireObject {
  if (thoughts.length === 0 || how === 'none' || how === 'chunks') return {};
  if (how !== 'reasoning_details') return { [how]: thoughts.map((each) => each.text).join('') };
  const details = thoughts.flatMap((each) => (each.meta?.data['details'] as readonly Json[] | undefined) ?? []);
  return details.length > 0 ? { reasoning_details: details } : {};
}

function userContent(parts: readonly MessagePart[]): string | readonly WireObject[] {
  if (parts.every((part) => part.type !== 'file')) return parts.map(textOfPart).join('\n\n');
  return parts.map((part) => (part.type === 'file' ? encodeFile(part) : { type: 'text', text: textOfPart(part) }));
}

const textOfPart = (part: MessagePart): string =>
  part.type === 'text' || part.type === 'reasoning' || part.type === 'tool-result' ? part.text : '';

/** Images by URL or inline, sound inline, text as text, anything else as a file. */
function encodeFile({ mediaType, data, name }: FilePart): WireObject {
  const isUrl = /^(https?|data):/.test(data);
  const url = isUrl ? data : `data:${mediaType};base64,${data}`;
  if (mediaType.startsWith('image/')) return { type: 'image_url', image_url: { url } };
  if (mediaType.startsWith('audio/') && !isUrl)
    return { type: 'input_audio', input_audio: { data, format: /wav/.test(mediaType) ? 'wav' : 'mp3' } };
  if (mediaType.startsWith('text/') && !isUrl)
    return { type: 'text', text: `${name ? `${name}:\n` : ''}${Buffer.from(data, 'base64').toString('utf8')}` };
  return { type: 'file', file: { filename: name ?? 'file', file_data: url } };
}
