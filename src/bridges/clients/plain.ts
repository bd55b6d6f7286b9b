// Plain messages, guided: no client, no loop and nothing kept; what the messages hold is all there is to know.
import {
  messageToolCalls,
  type Json,
  type JsonObject,
  type Message,
  type StopReason,
  type ToolSpec,
} from '../../core/index.ts';
import type { DialectName } from '../dialects/dialect.ts';
import { dialects } from '../dialects/table.ts';
import { openGuide, type Guide, type GuideOptions } from '../guide/guide.ts';

/** How plain messages are guided. */
export type PlainOptions = Omit<GuideOptions, 'log' | 'session'> & {
  /** How the messages are written; chat completions unless given. */
  readonly dialect?: DialectName;
  readonly model?: string;
  readonly tools?: readonly ToolSpec[];
};

/** What was decided about a conversation, and why. */
export type PlainDecision =
  /** The model reads this after the message of that index; -1 is the system text. */
  | { readonly type: 'noted'; readonly after: number; readonly text: string }
  | { readonly type: 'allowed'; readonly id: string; readonly tool: string }
  /** Do not make this call: answer it with the reason. */
  | { readonly type: 'refused'; readonly id: string; readonly tool: string; readonly reason: string }
  /** Send nothing more. */
  | { readonly type: 'stopped'; readonly reason: StopReason; readonly detail: string };

/** The messages to send, and what was decided. */
export type Guided = {
  readonly messages: readonly JsonObject[];
  /** The system text, for a dialect that does not have it among the messages. */
  readonly system?: Json;
  readonly decisions: readonly PlainDecision[];
};

const lists: Readonly<Record<DialectName, readonly [messages: string, system: string]>> = {
  chat: ['messages', ''],
  anthropic: ['messages', 'system'],
  responses: ['input', 'instructions'],
  gemini: ['contents', 'systemInstruction'],
};

/** Notes of one process carry one mark, so that the same messages always come back with the same additions. */
const processNonce = crypto.randomUUID().slice(0, 8);

/** Says what to send for these messages, or, where they end with calls of the model's, which of them may be made. Keep your own messages, and send what comes back: the earlier ones then always come back as they were sent. */
export async function guide(messages: readonly JsonObject[], options: PlainOptions = {}): Promise<Guided> {
  const { dialect: name = 'chat', model = '', tools, ...how } = options;
  const dialect = dialects[name];
  const [key, system] = lists[name];
  const request: JsonObject = { [key]: messages };
  const asked = { ...dialect.asked(request), model, ...(tools ? { tools } : {}) };
  const opened = await openGuide({ nonce: processNonce, ...how });
  const last = asked.messages.length - 1;
  for (const [i, message] of asked.messages.entries()) {
    if (message?.role !== 'assistant') continue;
    const guidance = await opened.before({ ...asked, messages: asked.messages.slice(0, i) });
    const finish = messageToolCalls(message).length ? 'tool-calls' : 'stop';
    if (guidance.type === 'send') await opened.accept({ message, finish });
    if (i === last) return { messages, decisions: await judgements(opened, message) };
  }
  const guidance = await opened.before(asked);
  if (guidance.type === 'stop')
    return { messages, decisions: [{ type: 'stopped', reason: guidance.reason, detail: guidance.detail }] };
  const additions = guidance.type === 'send' ? guidance.additions : [];
  const sent = dialect.withAdditions(request, additions);
  return {
    messages: sent[key] as readonly JsonObject[],
    ...(sent[system] === undefined ? {} : { system: sent[system] }),
    decisions: additions.flatMap((each): readonly PlainDecision[] =>
      each.type === 'exchange' ? [] : [{ type: 'noted', after: each.after, text: each.text }],
    ),
  };
}

const judgements = (opened: Guide, message: Message): Promise<readonly PlainDecision[]> =>
  Promise.all(
    messageToolCalls(message).map(async (call): Promise<PlainDecision> => {
      const refused = await opened.judge(call);
      return refused ? { type: 'refused', ...refused } : { type: 'allowed', id: call.id, tool: call.tool };
    }),
  );
