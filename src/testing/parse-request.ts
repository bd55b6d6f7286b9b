// Which dialect a request speaks, and what it asks for in words that all dialects share.
import { isObject, type JsonObject } from '../core/index.ts';
import { anthropicWriter } from './response-writers/anthropic.ts';
import { chatWriter } from './response-writers/openai-chat.ts';
import { googleWriter } from './response-writers/google.ts';
import { ollamaWriter } from './response-writers/ollama.ts';
import type { WireFormatName, ResponseWriter } from './response-writers/writer.ts';
import { responsesWriter } from './response-writers/openai-responses.ts';
import type { ScriptRequest } from './script.ts';

/** The writer of each dialect. */
export const responseWriters: Readonly<Record<WireFormatName, ResponseWriter>> = {
  chat: chatWriter,
  responses: responsesWriter,
  anthropic: anthropicWriter,
  google: googleWriter,
  ollama: ollamaWriter,
};

/** The dialect of a path, if it is one that asks for an answer. */
export function wireFormatFromPath(path: string): WireFormatName | undefined {
  if (path.endsWith('/chat/completions')) return 'chat';
  if (path.endsWith('/responses')) return 'responses';
  if (path.endsWith('/messages')) return 'anthropic';
  if (/:(streamG|g)enerateContent$/.test(path)) return 'google';
  return path.endsWith('/api/chat') ? 'ollama' : undefined;
}

/** Whether the request wants its answer in pieces. */
export function wantsStream(dialect: WireFormatName, path: string, body: JsonObject): boolean {
  if (dialect === 'google') return path.endsWith(':streamGenerateContent');
  return dialect === 'ollama' ? body['stream'] !== false : body['stream'] === true;
}

/** The model that Google names in the path. */
export const parseGoogleModel = (path: string): string => /models\/([^/:]+):/.exec(path)?.[1] ?? '';

/** The request as a script sees it. What a script does not look at costs nothing. */
export function parseScriptRequest(
  dialect: WireFormatName,
  path: string,
  body: JsonObject,
  index: number,
): ScriptRequest<JsonObject> {
  const model = dialect === 'google' ? parseGoogleModel(path) : stringOrEmpty(body['model']);
  return {
    index,
    model,
    body,
    get tools() {
      return toolNames(dialect, body);
    },
    get results() {
      return toolResultTexts(dialect, body);
    },
    get prompt() {
      return lastUserText(dialect, body);
    },
  };
}

type WireObject = { readonly [key: string]: unknown };

const objectList = (value: unknown): readonly WireObject[] => (Array.isArray(value) ? value.filter(isObject) : []);
const stringOrEmpty = (value: unknown): string => (typeof value === 'string' ? value : '');

/** The words of a content: a text, or a list of blocks some of which have one. */
const contentText = (content: unknown): string =>
  typeof content === 'string'
    ? content
    : objectList(content)
        .map((block) => stringOrEmpty(block['text']))
        .join('');

function toolNames(dialect: WireFormatName, body: JsonObject): readonly string[] {
  const tools = objectList(body['tools']);
  if (dialect === 'google')
    return tools.flatMap((tool) => objectList(tool['functionDeclarations']).map((each) => stringOrEmpty(each['name'])));
  return tools.map((tool) => stringOrEmpty(isObject(tool['function']) ? tool['function']['name'] : tool['name']));
}

const bodyMessages = (dialect: WireFormatName, body: JsonObject): readonly WireObject[] =>
  objectList(body[dialect === 'google' ? 'contents' : dialect === 'responses' ? 'input' : 'messages']);

function toolResultTexts(dialect: WireFormatName, body: JsonObject): readonly string[] {
  return bodyMessages(dialect, body).flatMap((message): readonly string[] => {
    if (dialect === 'google')
      return objectList(message['parts']).flatMap(({ functionResponse }) =>
        isObject(functionResponse) ? [JSON.stringify(functionResponse['response'])] : [],
      );
    if (dialect === 'anthropic')
      return objectList(message['content']).flatMap((block) =>
        block['type'] === 'tool_result' ? [contentText(block['content'])] : [],
      );
    if (dialect === 'responses')
      return stringOrEmpty(message['type']).endsWith('_call_output') ? [contentText(message['output'])] : [];
    return message['role'] === 'tool' ? [contentText(message['content'])] : [];
  });
}

function lastUserText(dialect: WireFormatName, body: JsonObject): string {
  if (dialect === 'responses' && typeof body['input'] === 'string') return body['input'];
  const said = bodyMessages(dialect, body)
    .filter((message) => message['role'] === 'user')
    .map((message) => contentText(dialect === 'google' ? message['parts'] : message['content']))
    .filter((each) => each !== '');
  return said.at(-1) ?? '';
}
