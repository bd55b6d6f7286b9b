// Stateless guard for a plain message array: decides from the messages alone, without a client, loop or storage.
import {
  messageText,
  messageToolCalls,
  type Json,
  type JsonObject,
  type Message,
  type StopReason,
  type ToolSpec,
} from '../../core/index.ts';
import { wireFormats } from '../../wire/formats/index.ts';
import type { InterceptFormatName } from '../../wire/index.ts';
import { createInterceptor, type Interceptor, type InterceptorOptions } from '../interceptor/interceptor.ts';

/** Options of `guardMessages`. */
export type GuardMessagesOptions = Omit<InterceptorOptions, 'log' | 'session'> & {
  /** The wire format of the messages; default chat completions. */
  readonly format?: InterceptFormatName;
  readonly model?: string;
  readonly tools?: readonly ToolSpec[];
};

/** A decision about a conversation and its reason. */
export type MessageDecision =
  /** Text for the model after the message with this index; -1 is the system text. */
  | { readonly type: 'noted'; readonly after: number; readonly text: string }
  | { readonly type: 'allowed'; readonly id: string; readonly tool: string }
  /** Do not run this call: return the reason as its result. */
  | { readonly type: 'refused'; readonly id: string; readonly tool: string; readonly reason: string }
  /** Send no more requests. */
  | { readonly type: 'stopped'; readonly reason: StopReason; readonly detail: string };

/** The messages to send, and the decisions. */
export type GuardedMessages = {
  readonly messages: readonly JsonObject[];
  /** The system text, for formats that keep it outside the messages. */
  readonly system?: Json;
  readonly decisions: readonly MessageDecision[];
};

const messageFields: Readonly<Record<InterceptFormatName, readonly [messages: string, system: string]>> = {
  chat: ['messages', ''],
  anthropic: ['messages', 'system'],
  responses: ['input', 'instructions'],
  google: ['contents', 'systemInstruction'],
};

/** One nonce per process, so that the same messages always get the same additions. */
const processNonce = crypto.randomUUID().slice(0, 8);

/** Returns the messages to send or, if they end with tool calls, which calls may run. Keep your own messages and send the returned ones: earlier messages are then always returned as they were sent. */
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
    // What earlier replies were written from is not known: messages may be missing.
    const text = messageText(message);
    if (i < last && text.trim() !== '') await opened.addUntrusted([{ text, source: 'an earlier reply' }]);
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
