// Which dialect a request speaks, and what it asks for in words that all dialects share.
import { isObject, type JsonObject } from '../core/index.ts';
import { anthropic } from './replies/anthropic.ts';
import { chat } from './replies/chat.ts';
import { google } from './replies/google.ts';
import { ollama } from './replies/ollama.ts';
import type { Dialect, Speaker } from './replies/reply.ts';
import { responses } from './replies/responses.ts';
import type { Asked } from './script.ts';

/** The writer of each dialect. */
export const speakers: Readonly<Record<Dialect, Speaker>> = { chat, responses, anthropic, google, ollama };

/** The dialect of a path, if it is one that asks for an answer. */
export function dialectOf(path: string): Dialect | undefined {
  if (path.endsWith('/chat/completions')) return 'chat';
  if (path.endsWith('/responses')) return 'responses';
  if (path.endsWith('/messages')) return 'anthropic';
  if (/:(streamG|g)enerateContent$/.test(path)) return 'google';
  return path.endsWith('/api/chat') ? 'ollama' : undefined;
}

/** Whether the request wants its answer in pieces. */
export function wantsStream(dialect: Dialect, path: string, body: JsonObject): boolean {
  if (dialect === 'google') return path.endsWith(':streamGenerateContent');
  return dialect === 'ollama' ? body['stream'] !== false : body['stream'] === true;
}

/** The model that Google names in the path. */
export const modelIn = (path: string): string => /models\/([^/:]+):/.exec(path)?.[1] ?? '';

/** The request as a script sees it. What a script does not look at costs nothing. */
export function askedOf(dialect: Dialect, path: string, body: JsonObject, index: number): Asked<JsonObject> {
  const model = dialect === 'google' ? modelIn(path) : text(body['model']);
  return {
    index,
    model,
    body,
    get tools() {
      return toolsOf(dialect, body);
    },
    get results() {
      return resultsOf(dialect, body);
    },
    get prompt() {
      return promptOf(dialect, body);
    },
  };
}

type Row = { readonly [key: string]: unknown };

const rows = (value: unknown): readonly Row[] => (Array.isArray(value) ? value.filter(isObject) : []);
const text = (value: unknown): string => (typeof value === 'string' ? value : '');

/** The words of a content: a text, or a list of blocks some of which have one. */
const words = (content: unknown): string =>
  typeof content === 'string'
    ? content
    : rows(content)
        .map((block) => text(block['text']))
        .join('');

function toolsOf(dialect: Dialect, body: JsonObject): readonly string[] {
  const tools = rows(body['tools']);
  if (dialect === 'google')
    return tools.flatMap((tool) => rows(tool['functionDeclarations']).map((each) => text(each['name'])));
  return tools.map((tool) => text(isObject(tool['function']) ? tool['function']['name'] : tool['name']));
}

const messagesOf = (dialect: Dialect, body: JsonObject): readonly Row[] =>
  rows(body[dialect === 'google' ? 'contents' : dialect === 'responses' ? 'input' : 'messages']);

function resultsOf(dialect: Dialect, body: JsonObject): readonly string[] {
  return messagesOf(dialect, body).flatMap((message): readonly string[] => {
    if (dialect === 'google')
      return rows(message['parts']).flatMap(({ functionResponse }) =>
        isObject(functionResponse) ? [JSON.stringify(functionResponse['response'])] : [],
      );
    if (dialect === 'anthropic')
      return rows(message['content']).flatMap((block) =>
        block['type'] === 'tool_result' ? [words(block['content'])] : [],
      );
    if (dialect === 'responses')
      return text(message['type']).endsWith('_call_output') ? [words(message['output'])] : [];
    return message['role'] === 'tool' ? [words(message['content'])] : [];
  });
}

function promptOf(dialect: Dialect, body: JsonObject): string {
  if (dialect === 'responses' && typeof body['input'] === 'string') return body['input'];
  const said = messagesOf(dialect, body)
    .filter((message) => message['role'] === 'user')
    .map((message) => words(dialect === 'google' ? message['parts'] : message['content']))
    .filter((each) => each !== '');
  return said.at(-1) ?? '';
}
