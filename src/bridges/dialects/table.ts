// Which dialect an address speaks.
import { anthropicDialect } from './anthropic.ts';
import { chatDialect } from './chat.ts';
import type { Dialect, DialectName } from './dialect.ts';
import { geminiDialect } from './gemini.ts';
import { responsesDialect } from './responses.ts';

/** The dialects by name. */
export const dialects: Readonly<Record<DialectName, Dialect>> = {
  chat: chatDialect,
  responses: responsesDialect,
  anthropic: anthropicDialect,
  gemini: geminiDialect,
};

/** The dialect of a path that asks a model for an answer; nothing for any other. However it is spelt: a server behind may be generous. */
export function dialectOf(path: string): Dialect | undefined {
  const plain = `/${decoded(path).toLowerCase().split('/').filter(Boolean).join('/')}`;
  if (plain.endsWith('/chat/completions')) return chatDialect;
  if (plain.endsWith('/responses')) return responsesDialect;
  // A thread's messages at OpenAI are no question to a model.
  if (plain.endsWith('/messages') && !plain.includes('/threads/')) return anthropicDialect;
  return /:(?:streamg|g)eneratecontent$/.test(plain) ? geminiDialect : undefined;
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}
