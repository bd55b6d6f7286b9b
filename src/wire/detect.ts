// Detects the wire format of a request from its path.
import { anthropicFormat } from './anthropic/index.ts';
import { googleFormat } from './google/index.ts';
import { chatFormat } from './openai-chat/index.ts';
import { responsesFormat } from './openai-responses/index.ts';
import type { InterceptFormatName, WireFormat, WireFormatName } from './wire-format.ts';

/** The codecs by name. */
export const wireFormats: Readonly<Record<InterceptFormatName, WireFormat>> = {
  chat: chatFormat,
  responses: responsesFormat,
  anthropic: anthropicFormat,
  google: googleFormat,
};

/** Returns the format of a path that requests a model response; undefined for any other path. */
export function wireFormatOfPath(path: string): WireFormatName | undefined {
  if (path.endsWith('/chat/completions')) return 'chat';
  if (path.endsWith('/responses')) return 'responses';
  // `/threads/{id}/messages` of OpenAI adds a message to a thread; it does not call a model.
  if (path.endsWith('/messages') && !path.includes('/threads/')) return 'anthropic';
  if (/:(?:streamg|g)eneratecontent$/i.test(path)) return 'google';
  return path.endsWith('/api/chat') ? 'ollama' : undefined;
}

/** Returns the codec for a path. Case, doubled slashes and percent-encoding are ignored, because a server may ignore them. */
export function detectWireFormat(path: string): WireFormat | undefined {
  const normalized = `/${decodePath(path).toLowerCase().split('/').filter(Boolean).join('/')}`;
  const name = wireFormatOfPath(normalized);
  return name === undefined || name === 'ollama' ? undefined : wireFormats[name];
}

function decodePath(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}
