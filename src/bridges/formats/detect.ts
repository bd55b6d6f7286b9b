// Which dialect an address speaks.
import { anthropicFormat } from './anthropic.ts';
import { chatFormat } from './chat.ts';
import type { WireFormat, WireFormatName } from './wire-format.ts';
import { geminiFormat } from './gemini.ts';
import { responsesFormat } from './responses.ts';

/** The dialects by name. */
export const wireFormats: Readonly<Record<WireFormatName, WireFormat>> = {
  chat: chatFormat,
  responses: responsesFormat,
  anthropic: anthropicFormat,
  gemini: geminiFormat,
};

/** The dialect of a path that asks a model for an answer; nothing for any other. However it is spelt: a server behind may be generous. */
export function detectWireFormat(path: string): WireFormat | undefined {
  const plain = `/${decodePath(path).toLowerCase().split('/').filter(Boolean).join('/')}`;
  if (plain.endsWith('/chat/completions')) return chatFormat;
  if (plain.endsWith('/responses')) return responsesFormat;
  // A thread's messages at OpenAI are no question to a model.
  if (plain.endsWith('/messages') && !plain.includes('/threads/')) return anthropicFormat;
  return /:(?:streamg|g)eneratecontent$/.test(plain) ? geminiFormat : undefined;
}

function decodePath(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}
