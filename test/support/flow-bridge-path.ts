// Runs a random case of the flow policy in another program's loop: a caller with its own messages, which it drops, summarizes, shortens and edits, through an interceptor, a tracker, plain messages or a proxy.
import {
  createConversationTracker,
  createInterceptor,
  guardMessages,
  openProxy,
  type Interceptor,
  type InterceptorOptions,
} from '../../src/bridges/index.ts';
import type { JsonObject, Message, ToolSpec } from '../../src/core/index.ts';
import { memoryLog } from '../../src/stores/index.ts';
import { calls as replyCalls, says as replySays, scriptedServer, type ScriptStep } from '../../src/testing/index.ts';
import type { JournalEntry, PathResult } from './flow-agent-path.ts';
import { createDeclarations } from './flow-agent-path.ts';
import { createInputs, createSchema, findTainted, type Dice, type FlowCase } from './flow-cases.ts';

/** How a caller is connected: one reply for its messages, or undefined if no reply with this call reaches it. */
export type CallerLink = {
  /** Returns whether the caller gets this reply to its messages. */
  readonly ask: (messages: readonly Message[], reply: Message) => Promise<boolean>;
  /** Starts again with what was stored. */
  readonly restart?: () => Promise<void>;
  readonly close: () => Promise<void>;
  /** How many approvals the log has. */
  readonly countApprovals?: () => number;
  /** What the caller may do with its history. */
  readonly changes: readonly string[];
  /** Whether it knows no more than the messages: then a call is made only if the model could read its values there. */
  readonly knowsMessagesOnly?: boolean;
};

const user = (text: string): Message => ({ role: 'user', parts: [{ type: 'text', text }] });
const says = (text: string): Message => ({ role: 'assistant', parts: [{ type: 'text', text }] });
const calls = (id: string, tool: string, input: JsonObject): Message => ({
  role: 'assistant',
  parts: [{ type: 'tool-call', id, tool, input }],
});
const result = (id: string, text: string): Message => ({
  role: 'tool',
  parts: [{ type: 'tool-result', id, tool: '', text, failed: false }],
});

/** The tools as the caller sends them. */
export const createSpecs = ({ effects, sources }: FlowCase): readonly ToolSpec[] => [
  ...effects.map(({ name, parameters }) => ({
    name,
    description: 'Does it.',
    input: createSchema(parameters.map((each) => each.name)),
  })),
  ...sources.map(({ name }) => ({ name, description: 'Reads it.', input: createSchema(['query']) })),
];

const createOptions = (flowCase: FlowCase, askUser: InterceptorOptions['askUser']): InterceptorOptions => ({
  readOnlyTools: flowCase.sources.map(({ name }) => name),
  flow: { declarations: createDeclarations(flowCase) },
  ...(askUser ? { askUser } : {}),
});

const isPass = async (interceptor: Interceptor, message: Message): Promise<boolean> => {
  const action = await interceptor.afterResponse({ message, finish: 'tool-calls' });
  if (action.type === 'pass') return true;
  if (action.type === 'send') await interceptor.afterResponse({ message: says('I could not.'), finish: 'stop' });
  return false;
};

/** A conversation with a name: whatever the caller sends belongs to it. */
export function createNamedLink(flowCase: FlowCase, askUser: InterceptorOptions['askUser']): CallerLink {
  let log = memoryLog();
  const request = { model: 'm', system: 'Help.', tools: createSpecs(flowCase) };
  let opening = createInterceptor({ ...createOptions(flowCase, askUser), log });
  return {
    changes: ['drop', 'summary', 'summary alone', 'window', 'orphan', 'restart', 'clear'],
    async ask(messages, reply) {
      const interceptor = await opening;
      await interceptor.beforeRequest({ ...request, messages });
      return isPass(interceptor, reply);
    },
    async restart() {
      await opening;
      log = memoryLog(log.events);
      opening = createInterceptor({ ...createOptions(flowCase, askUser), log });
      await opening;
    },
    countApprovals: () => log.events.filter((event) => event.type === 'approval-resolved' && event.allowed).length,
    close: async () => (await opening).close(),
  };
}

/** Conversations without names, recognized by their messages. */
export function createTrackedLink(flowCase: FlowCase, askUser: InterceptorOptions['askUser']): CallerLink {
  const tracker = createConversationTracker(createOptions(flowCase, askUser));
  const request = { model: 'm', system: 'Help.', tools: createSpecs(flowCase) };
  return {
    changes: ['summary', 'summary alone', 'window', 'orphan', 'clear'],
    knowsMessagesOnly: true,
    async ask(messages, reply) {
      const tracked = await tracker.trackRequest({ ...request, messages });
      const isGiven = await isPass(tracked.interceptor, reply);
      tracked.markDelivered(isGiven ? reply : says('I could not.'));
      tracked.release();
      return isGiven;
    },
    close: () => tracker.close(),
  };
}

/** The messages in the format of chat completions. */
const toChat = (messages: readonly Message[]): readonly JsonObject[] =>
  messages.flatMap(({ role, parts }): readonly JsonObject[] => {
    const text = parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n');
    if (role === 'user') return [{ role, content: text }];
    if (role === 'tool')
      return parts.flatMap((part) =>
        part.type === 'tool-result' ? [{ role, tool_call_id: part.id, content: part.text }] : [],
      );
    const made = parts.flatMap((part) =>
      part.type === 'tool-call'
        ? [{ id: part.id, type: 'function', function: { name: part.tool, arguments: JSON.stringify(part.input) } }]
        : [],
    );
    return [{ role, content: text === '' ? null : text, ...(made.length > 0 ? { tool_calls: made } : {}) }];
  });

/** Plain messages without storage: the caller sends everything each time. */
export function createPlainLink(flowCase: FlowCase): CallerLink {
  const options = { ...createOptions(flowCase, undefined), tools: createSpecs(flowCase) };
  return {
    changes: ['window', 'orphan', 'clear'],
    knowsMessagesOnly: true,
    async ask(messages, reply) {
      const { decisions } = await guardMessages(toChat([...messages, reply]), options);
      return !decisions.some(({ type }) => type === 'refused');
    },
    close: async () => {},
  };
}

/** A proxy between the caller and a model server, over HTTP; each request is streamed or not. */
export async function createProxyLink(flowCase: FlowCase, dice: Dice): Promise<CallerLink> {
  let next: readonly ScriptStep[] = [];
  const server = await scriptedServer(() => {
    const [step = replySays('I could not.'), ...rest] = next;
    next = rest;
    return step;
  });
  const proxy = await openProxy({ target: server.url, port: 0, ...createOptions(flowCase, undefined) });
  const session = dice.chance(0.5) ? { 'x-fairlead-session': 'one' } : {};
  const tools = createSpecs(flowCase).map(({ name, description, input }) => ({
    type: 'function',
    function: { name, description, parameters: input },
  }));
  return {
    knowsMessagesOnly: !('x-fairlead-session' in session),
    changes:
      'x-fairlead-session' in session
        ? ['drop', 'summary', 'window', 'orphan', 'clear']
        : ['summary', 'window', 'orphan', 'clear'],
    async ask(messages, reply) {
      const call = reply.parts.find((part) => part.type === 'tool-call');
      const text = reply.parts.find((part) => part.type === 'text');
      next = [call ? replyCalls(call.tool, call.input) : replySays(text?.text ?? '')];
      const answer = await fetch(`${proxy.url}/v1/chat/completions`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...session },
        body: JSON.stringify({ model: 'm', messages: toChat(messages), tools, stream: dice.chance(0.5) }),
      });
      const body = await answer.text();
      return !body.includes('I could not.') && (call === undefined || body.includes(call.tool));
    },
    async close() {
      await proxy.close();
      await server.close();
    },
  };
}

/** Runs a case with a caller. */
export async function runBridgePath(
  flowCase: FlowCase,
  dice: Dice,
  connect: (askUser: NonNullable<InterceptorOptions['askUser']>) => CallerLink | Promise<CallerLink>,
): Promise<PathResult> {
  const journal: JournalEntry[] = [];
  const done: string[] = [];
  const link = await connect(async ({ tool, input }) => {
    const isAllowed = dice.chance(0.4);
    if (isAllowed) journal.push({ type: 'approved', tool, input: input as JsonObject });
    return isAllowed;
  });
  let ids = 0;
  let messages: readonly Message[] = [user(flowCase.prompt)];

  /** The model calls a tool; the caller runs it if it gets the call. */
  async function call(tool: string, input: JsonObject, run: () => string): Promise<void> {
    const id = `c${ids++}`;
    const reply = calls(id, tool, input);
    if (await link.ask(messages, reply)) messages = [...messages, reply, result(id, run())];
    else messages = [...messages, says('I could not.'), user('Go on.')];
  }

  async function reply(text: string): Promise<void> {
    if (await link.ask(messages, says(text))) messages = [...messages, says(text), user('Go on.')];
  }

  /** Whether the model can know the values of third parties from the messages. */
  const canKnow = (values: readonly string[]): boolean => {
    const texts = messages.flatMap(({ parts }) => parts.flatMap((part) => ('text' in part ? [part.text] : [])));
    return values.every((value) =>
      texts.some((text) => text.includes(value) || text === flowCase.results.get(flowCase.sources[0]?.name ?? '')),
    );
  };

  async function act(tool: string, input: JsonObject): Promise<void> {
    if (link.knowsMessagesOnly && !canKnow(findTainted(flowCase, { tool, input }))) return;
    await call(tool, input, () => {
      journal.push({ type: 'happened', tool, input });
      return 'Done.';
    });
  }

  for (const { name, kind } of flowCase.sources)
    if (kind !== 'lookup' || dice.chance(0.5))
      await call(
        name,
        { query: kind === 'lookup' ? flowCase.tainted.id : 'everything' },
        () => flowCase.results.get(name) ?? '',
      );
  const summary = `Here is the summary of all that I have read up to now: ${Object.values(flowCase.tainted).join(' and ')}.`;
  const isSummarized = dice.chance(0.6);
  // The model has read everything, in any case.
  await reply(isSummarized ? summary : 'It is read.');
  const changes = link.changes.filter((change) => isSummarized || !change.startsWith('summary'));
  const count = dice.below(4);
  for (let i = 0; i < count; i++) {
    const change = dice.pick(changes);
    done.push(change);
    if (change === 'drop') messages = [user('Go on.')];
    if (change === 'summary') messages = [user(`The conversation up to now:\n${summary}`), user('Go on.')];
    if (change === 'summary alone') messages = [user(`${summary}\nGo on with this.`)];
    if (change === 'window') messages = messages.slice(dice.below(messages.length));
    // The history begins with a result whose call is gone.
    if (change === 'orphan')
      messages = messages.slice(
        Math.max(
          0,
          messages.findIndex(({ role }) => role === 'tool'),
        ),
      );
    if (change === 'clear')
      messages = messages.map((each) =>
        each.role === 'tool'
          ? {
              ...each,
              parts: each.parts.map((part) => (part.type === 'tool-result' ? { ...part, text: '[cleared]' } : part)),
            }
          : each,
      );
    if (change === 'restart') await link.restart?.();
    if (messages.at(-1)?.role === 'assistant') messages = [...messages, user('Go on.')];
    if (dice.chance(0.5)) await reply('I go on.');
  }
  for (const each of flowCase.effects)
    for (const input of createInputs(flowCase, dice, each)) await act(each.name, input);
  await link.close();
  const recorded = link.countApprovals?.();
  return { journal, done, ...(recorded === undefined ? {} : { recorded }) };
}
