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

/** The dialect of a path that asks a model for an answer; nothing for any other. */
export function dialectOf(path: string): Dialect | undefined {
  if (path.endsWith('/chat/completions')) return chatDialect;
  if (path.endsWith('/responses')) return responsesDialect;
  if (path.endsWith('/messages')) return anthropicDialect;
  return /:(?:streamG|g)enerateContent$/.test(path) ? geminiDialect : undefined;
}
