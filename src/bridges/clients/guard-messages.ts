// Plain messages, guided: no client, no loop and nothing kept; what the messages hold is all there is to know.
import {
  messageToolCalls,
  type Json,
  type JsonObject,
  type Message,
  type StopReason,
  type ToolSpec,
} from '../../core/index.ts';
import type { WireFormatName } from '../formats/wire-format.ts';
import { wireFormats } from '../formats/detect.ts';
import { createInterceptor, type Interceptor, type InterceptorOptions } from '../interceptor/interceptor.ts';

/** How plain messages are guided. */
export type GuardMessagesOptions = Omit<InterceptorOptions, 'log' | 'session'> & {
  /** How the messages are written; chat completions unless given. */
  readonly format?: WireFormatName;
  readonly model?: string;
  readonly tools?: readonly ToolSpec[];
};

/** What was decided about a conversation, and why. */
export type MessageDecision =
  /** The model reads this after the message of that index; -1 is the system text. */
  | { readonly type: 'noted'; readonly after: number; readonly text: string }
  | { readonly type: 'allowed'; readonly id: string; readonly tool: string }
  /** Do not make this call: answer it with the reason. */
  | { readonly type: 'refused'; readonly id: string; readonly tool: string; readonly reason: string }
  /** Send nothing more. */
  | { readonly type: 'stopped'; readonly reason: StopReason; readonly detail: string };

/** The messages to send, and what was decided. */
export type GuardedMessages = {
  readonly messages: readonly JsonObject[];
  /** The system text, for a dialect that does not have it among the messages. */
  readonly system?: Json;
  readonly decisions: readonly MessageDecision[];
};

const messageFields: Readonly<Record<WireFormatName, readonly [messages: string, system: string]>> = {
  chat: ['messages', ''],
  anthropic: ['messages', 'system'],
  responses: ['input', 'instructions'],
  gemini: ['contents', 'systemInstruction'],
};

/** Notes of one process carry one mark, so that the same messages always come back with the same additions. */
const processNonce = crypto.randomUUID().slice(0, 8);

/** Says what to send for these messages, or, where they end with calls of the model's, which of them may be made. Keep your own messages, and send what comes back: the earlier ones then always come back as they were sent. */
export async function guardMessages(
  messages: readonly JsonObject[],
  options: GuardMessagesOptions = {},
): Promise<GuardedMessages> {
  const { format: name = 'chat', model = '', tools, ...how } = options;
  const dialect = wireFormats[name];
  const [key, system] = messageFields[name];
  const request: JsonObject = { [key]: messages };
  const asked = { ...dialect.parseRequest(request), model, ...(tools ? { tools } : {}) };
  const opened = await createInterceptor({ nonce: processNonce, ...how });
  const last = asked.messages.length - 1;
  for (const [i, message] of asked.messages.entries()) {
    if (message?.role !== 'assistant') continue;
    const guidance = await opened.beforeRequest({ ...asked, messages: asked.messages.slice(0, i) });
    const finish = messageToolCalls(message).length ? 'tool-calls' : 'stop';
    if (guidance.type === 'send') await opened.acceptResponse({ message, finish });
    if (i === last) return { messages, decisions: await evaluateCalls(opened, message) };
  }
  const guidance = await opened.beforeRequest(asked);
  if (guidance.type === 'stop')
    return { messages, decisions: [{ type: 'stopped', reason: guidance.reason, detail: guidance.detail }] };
  const additions = guidance.type === 'send' ? guidance.additions : [];
  const sent = dialect.insertAdditions(request, additions);
  return {
    messages: sent[key] as readonly JsonObject[],
    ...(sent[system] === undefined ? {} : { system: sent[system] }),
    decisions: additions.flatMap((each): readonly MessageDecision[] =>
      each.type === 'exchange' ? [] : [{ type: 'noted', after: each.after, text: each.text }],
    ),
  };
}

const evaluateCalls = (opened: Interceptor, message: Message): Promise<readonly MessageDecision[]> =>
  Promise.all(
    messageToolCalls(message).map(async (call): Promise<MessageDecision> => {
      const refused = await opened.evaluateCall(call);
      return refused ? { type: 'refused', ...refused } : { type: 'allowed', id: call.id, tool: call.tool };
    }),
  );
