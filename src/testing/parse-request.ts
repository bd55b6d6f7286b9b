// Parses a request to the scripted server into the form that a script sees, whatever its wire format.
import { messageText, parseToolResult, type JsonObject } from '../core/index.ts';
import { wireFormats } from '../wire/formats/index.ts';
import { asString, type ParsedModelRequest, type WireFormatName, parseGoogleModel } from '../wire/index.ts';
import { anthropicWriter } from './response-writers/anthropic.ts';
import { googleWriter } from './response-writers/google.ts';
import { ollamaWriter } from './response-writers/ollama.ts';
import { chatWriter } from './response-writers/openai-chat.ts';
import { responsesWriter } from './response-writers/openai-responses.ts';
import type { ResponseWriter } from './response-writers/writer.ts';
import type { ScriptRequest } from './script.ts';

/** The response writer of each wire format. */
export const responseWriters: Readonly<Record<WireFormatName, ResponseWriter>> = {
  chat: chatWriter,
  responses: responsesWriter,
  anthropic: anthropicWriter,
  google: googleWriter,
  ollama: ollamaWriter,
};

/** Whether the request asks for a streamed response. */
export function wantsStream(format: WireFormatName, path: string, body: JsonObject): boolean {
  if (format === 'google') return path.endsWith(':streamGenerateContent');
  return format === 'ollama' ? body['stream'] !== false : body['stream'] === true;
}

/** Returns the request as a script sees it. It is parsed when the script reads its first field. */
export function parseScriptRequest(
  format: WireFormatName,
  path: string,
  body: JsonObject,
  index: number,
): ScriptRequest<JsonObject> {
  let parsed: ParsedModelRequest | undefined;
  // Ollama's messages and tools have the form of chat completions.
  const parse = (): ParsedModelRequest =>
    (parsed ??= wireFormats[format === 'ollama' ? 'chat' : format].parseRequest(body, path));
  return {
    index,
    model: format === 'google' ? parseGoogleModel(path) : asString(body['model']),
    body,
    get tools() {
      return parse().tools.map(({ name }) => name);
    },
    get results() {
      return parse().messages.flatMap((message) =>
        (message?.parts ?? []).flatMap((part) => (part.type === 'tool-result' ? [parseToolResult(part.text)] : [])),
      );
    },
    get prompt() {
      // Anthropic and Google send the user's text after tool results in the message of the results.
      const texts = parse().messages.map((message) =>
        message && message.role !== 'assistant' ? messageText(message) : '',
      );
      return texts.findLast((text) => text !== '') ?? '';
    },
  };
}
