// Messages as Ollama's own chat API wants them: images as bare base64, arguments as objects, results by the tool's name.
import type { FilePart, Message, MessagePart } from '../../core/index.ts';
import { legalName } from '../chat/messages.ts';
import { shownBeside } from '../wire/pictures.ts';

type Wire = { readonly [key: string]: unknown };

/** One message, or one for each result. */
export function ollamaMessage(message: Message): readonly Wire[] {
  const { role, parts } = message;
  const beside = shownBeside(message);
  if (role === 'tool') return [...parts.map(result), ...(beside.length > 0 ? [user(beside)] : [])];
  return [role === 'assistant' ? assistant(parts) : user(parts)];
}

function result(part: MessagePart): Wire {
  if (part.type !== 'tool-result') return user([part]);
  return { role: 'tool', content: part.text, tool_name: legalName(part.tool), tool_call_id: part.id };
}

function assistant(parts: readonly MessagePart[]): Wire {
  const thinking = parts.flatMap((part) =>
    part.type === 'reasoning' && part.meta?.family === 'ollama' ? [part.text] : [],
  );
  const calls = parts.flatMap((part) =>
    part.type === 'tool-call' ? [{ id: part.id, function: { name: legalName(part.tool), arguments: part.input } }] : [],
  );
  return {
    role: 'assistant',
    content: wordsOf(parts, ''),
    ...(thinking.length > 0 ? { thinking: thinking.join('') } : {}),
    ...(calls.length > 0 ? { tool_calls: calls } : {}),
  };
}

function user(parts: readonly MessagePart[]): Wire {
  const files = parts.filter((part) => part.type === 'file');
  const images = files.filter(isInlineImage).map((part) => part.data.replace(/^data:[^,]*,/, ''));
  // What Ollama cannot be shown is at least named.
  const others = files.filter((part) => !isInlineImage(part)).map(nameOf);
  const content = [wordsOf(parts, '\n\n'), ...others].filter((each) => each !== '').join('\n\n');
  return { role: 'user', content, ...(images.length > 0 ? { images } : {}) };
}

const isInlineImage = ({ mediaType, data }: FilePart): boolean =>
  mediaType.startsWith('image/') && !/^https?:/.test(data);

function nameOf({ mediaType, data, name }: FilePart): string {
  const isUrl = /^(https?|data):/.test(data);
  if (mediaType.startsWith('text/') && !isUrl)
    return `${name ? `${name}:\n` : ''}${Buffer.from(data, 'base64').toString('utf8')}`;
  return `[file: ${name ?? (isUrl && !data.startsWith('data:') ? data : mediaType)}]`;
}

const wordsOf = (parts: readonly MessagePart[], between: string): string =>
  parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join(between);
