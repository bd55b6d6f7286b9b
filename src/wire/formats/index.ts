// The codecs of all wire formats that can be intercepted, and the codec of a path. Apart from the index of wire: providers need the tables only.
import { anthropicFormat } from '../anthropic/codec.ts';
import { wireFormatOfPath } from '../detect.ts';
import { googleFormat } from '../google/codec.ts';
import { chatFormat } from '../openai-chat/codec.ts';
import { responsesFormat } from '../openai-responses/codec.ts';
import type { InterceptFormatName, WireFormat } from '../wire-format.ts';

/** The codecs by name. */
export const wireFormats: Readonly<Record<InterceptFormatName, WireFormat>> = {
  chat: chatFormat,
  responses: responsesFormat,
  anthropic: anthropicFormat,
  google: googleFormat,
};

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
