// Parses OpenAI chat completion responses: whole documents and streams.
import type { Json, JsonObject } from '../../core/index.ts';
import { asObject, asObjectArray, asString } from '../fields.ts';
import type { ReportedUsage } from '../usage.ts';
import type { ParsedModelResponse, StreamAssembler } from '../wire-format.ts';
import { parseChatFinish } from './finish-reasons.ts';
import { parseAssistantParts } from './parse-request.ts';
import { findChatUsage } from './usage.ts';

/** Parses a completion. Tool calls of further choices are included: a client could run them. */
export function parseChatResponse(response: JsonObject): ParsedModelResponse {
  const [choice = {}, ...others] = asObjectArray(response['choices']);
  const message = asObject(choice['message']);
  const more = others.flatMap((each) => asObjectArray(asObject(each['message'])['tool_calls']));
  const merged = more.length ? { ...message, tool_calls: [...asObjectArray(message['tool_calls']), ...more] } : message;
  return createResponse(merged, asString(choice['finish_reason']), findChatUsage(response));
}

/** `raw` holds only the fields that every server accepts in a request. */
function createResponse(message: JsonObject, finish: string, usage: ReportedUsage | undefined): ParsedModelResponse {
  const { content = null, tool_calls } = message;
  return {
    message: { role: 'assistant', parts: parseAssistantParts(message) },
    finish: parseChatFinish(finish),
    ...(usage ?? { usage: {} }),
    raw: { role: 'assistant', content, ...(Array.isArray(tool_calls) ? { tool_calls } : {}) },
  };
}

type PartialToolCall = {
  id: string;
  type: string;
  function?: { name: string; arguments: string };
  custom?: JsonObject;
};

/** Assembles a completion from its chunks. */
export function createChatAssembler(): StreamAssembler {
  let text = '';
  let finish = '';
  let usage: ReportedUsage | undefined;
  const calls: PartialToolCall[] = [];
  const positions = new Map<string, number>();
  return {
    push({ data }) {
      if (data === '[DONE]') return { mustHold: false };
      usage = findChatUsage(data) ?? usage;
      const choices = asObjectArray(data['choices']);
      const [choice] = choices;
      if (!choice) return { mustHold: false };
      finish = asString(choice['finish_reason']) || finish;
      const delta = asObject(choice['delta']);
      text += asString(delta['content']) || asString(delta['refusal']);
      const pieces = choices.flatMap(({ index, delta: each }) =>
        asObjectArray(asObject(each)['tool_calls']).map((piece) => ({
          piece,
          key: `${String(index)} ${String(piece['index'])}`,
        })),
      );
      for (const { piece, key } of pieces) {
        const known = piece['index'] === undefined ? undefined : positions.get(key);
        const at = known === undefined || startsAnotherCall(calls[known], piece) ? calls.length : known;
        positions.set(key, at);
        calls[at] = appendCallDelta(calls[at], piece);
      }
      return { mustHold: pieces.length > 0 };
    },
    response() {
      const message = {
        role: 'assistant',
        content: text === '' && calls.length ? null : text,
        ...(calls.length ? { tool_calls: calls as readonly Json[] } : {}),
      };
      return createResponse(message, finish, usage);
    },
  };
}

/** Some servers give every call the same index; then another id with a name starts another call. */
const startsAnotherCall = (call: PartialToolCall | undefined, piece: JsonObject): boolean =>
  asString(piece['id']) !== '' &&
  asString(piece['id']) !== call?.id &&
  asString(asObject(piece['function'])['name']) !== '';

/** Fields that a server adds to a call beside its name and arguments are kept: the server requires them in the next request. */
function appendCallDelta(call: PartialToolCall | undefined, { index: _, ...piece }: JsonObject): PartialToolCall {
  const type = asString(piece['type']) || call?.type || 'function';
  const merged = { ...piece, ...call, id: call?.id || asString(piece['id']), type };
  if (type === 'custom') {
    const before = asObject(call?.custom);
    const added = asObject(piece['custom']);
    const input = asString(before['input']) + asString(added['input']);
    return { ...merged, custom: { name: asString(before['name']) || asString(added['name']), input } };
  }
  const before = call?.function ?? { name: '', arguments: '' };
  const added = asObject(piece['function']);
  // Some servers repeat the complete name in every piece.
  const name = asString(added['name']) === before.name ? before.name : before.name + asString(added['name']);
  return { ...merged, function: { name, arguments: before.arguments + asString(added['arguments']) } };
}
