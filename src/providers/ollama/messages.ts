// Messages as Ollama's own chat API wants them: images as bare base64, arguments as objects, results by the tool's name.
import type { FilePart, Message, MessagePart } from '../../core/index.ts';
import { sanitizeToolName } from '../openai-compatible/messages.ts';
import { toolResultFileParts } from '../http/images.ts';

type WireObject = { readonly [key: string]: unknown };

/** One message, or one for each result. */
export function encodeOllamaMessage(message: Message): readonly WireObject[] {
  const { role, parts } = message;
  const beside = toolResultFileParts(message);
  if (role === 'tool')
    return [...parts.map(encodeToolResult), ...(beside.length > 0 ? [encodeUserMessage(beside)] : [])];
  return [role === 'assistant' ? encodeAssistantMessage(parts) : encodeUserMessage(parts)];
}

function encodeToolResult(part: MessagePart): WireObject {
  if (part.type !== 'tool-result') return encodeUserMessage([part]);
  return { role: 'tool', content: part.text, tool_name: sanitizeToolName(part.tool), tool_call_id: part.id };
}

function encodeAssistantMessage(parts: readonly MessagePart[]): WireObject {
  const thinking = parts.flatMap((part) =>
    part.type === 'reasoning' && part.meta?.family === 'ollama' ? [part.text] : [],
  );
  const calls = parts.flatMap((part) =>
    part.type === 'tool-call'
      ? [{ id: part.id, function: { name: sanitizeToolName(part.tool), arguments: part.input } }]
      : [],
  );
  return {
    role: 'assistant',
    content: joinText(parts, ''),
    ...(thinking.length > 0 ? { thinking: thinking.join('') } : {}),
    ...(calls.length > 0 ? { tool_calls: calls } : {}),
  };
}

function encodeUserMessage(parts: readonly MessagePart[]): WireObject {
  const files = parts.filter((part) => part.type === 'file');
  const images = files.filter(isInlineImage).map((part) => part.data.replace(/^data:[^,]*,/, ''));
  // What Ollama cannot be shown is at least named.
  const others = files.filter((part) => !isInlineImage(part)).map(describeFile);
  const content = [joinText(parts, '\n\n'), ...others].filter((each) => each !== '').join('\n\n');
  return { role: 'user', content, ...(images.length > 0 ? { images } : {}) };
}

const isInlineImage = ({ mediaType, data }: FilePart): boolean =>
  mediaType.startsWith('image/') && !/^https?:/.test(data);

function describeFile({ mediaType, data, name }: FilePart): string {
  const isUrl = /^(https?|data):/.test(data);
  if (mediaType.startsWith('text/') && !isUrl)
    return `${name ? `${name}:\n` : ''}${Buffer.from(data, 'base64').toString('utf8')}`;
  return `[file: ${name ?? (isUrl && !data.startsWith('data:') ? data : mediaType)}]`;
}

const joinText = (parts: readonly MessagePart[], between: string): string =>
  parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join(between);
