// Detects the wire format, and for Google the model, of a request from its path.
import type { WireFormatName } from './wire-format.ts';

/** Returns the format of a path that requests a model response; undefined for any other path. */
export function wireFormatOfPath(path: string): WireFormatName | undefined {
  if (path.endsWith('/chat/completions')) return 'chat';
  if (path.endsWith('/responses')) return 'responses';
  // `/threads/{id}/messages` of OpenAI adds a message to a thread; it does not call a model.
  if (path.endsWith('/messages') && !path.includes('/threads/')) return 'anthropic';
  if (/:(?:streamg|g)eneratecontent$/i.test(path)) return 'google';
  return path.endsWith('/api/chat') ? 'ollama' : undefined;
}

/** Returns the model that a path of Google names. */
export const parseGoogleModel = (path: string): string => /models\/([^/:]+):/.exec(path)?.[1] ?? '';
