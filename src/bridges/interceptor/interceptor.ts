// Guides a conversation that somebody else's loop runs: sees each request before it goes, and each answer before it counts.
import { resolveAgent, mergeExtensions, type Extension } from '../../agent/index.ts';
import {
  evaluateGates,
  deliverableInputs,
  runEndedFacts,
  readView,
  nextStep,
  openSessionWriter,
  collectNotes,
  runChecks,
  runStateView,
  toArray,
  renderNotes,
  type ResolvedAgent,
  type ToolCall,
  type FinishReason,
  type Json,
  type Limits,
  type Log,
  type Message,
  type Price,
  type RunState,
  type Step,
  type StopReason,
  type ToolSpec,
  type Usage,
} from '../../core/index.ts';
import { memoryLog } from '../../stores/index.ts';
import {
  listAdditions,
  rewindToTurnStart,
  countCommonMessages,
  MESSAGE_REMARK,
  createCallerHistoryView,
  extendPrefixHash,
  computePrefixHashes,
  type MessageAddition,
} from './caller-history.ts';
import { callerMessageToFacts, defaultToolFailureTest, type ToolFailureTest } from './import-messages.ts';
import {
  recordSessionStart,
  turnEndedFact,
  closeOpenCallFacts,
  runStartedFacts,
  denialFacts,
  toolStartedFact,
  pendingInputFacts,
} from './facts.ts';
import { createPlaceholderProvider, createPlaceholderTools } from './placeholders.ts';

/** What a guide goes by: rules, gates, stops, checks, views and reminders, and what is known of the caller's model. */
export type InterceptorOptions = Omit<Extension, 'tools' | 'providers' | 'renderers'> & {
  /** Where the conversation is kept; in memory unless given. */
  readonly log?: Log;
  readonly session?: string;
  /** What marks the notes of a new session; made up unless given. */
  readonly nonce?: string;
  /** Words that a new session's system text ends with, for good: what the reminders are, for example. */
  readonly system?: string;
  /** Nothing binds but what is given here: how long the caller's loop goes on is its own affair. An answer is refused 5 times in a row, or as often as `errors` says. */
  readonly limits?: Partial<Limits>;
  readonly price?: Price;
  readonly window?: number;
  /** Which tools only read; every other counts as one that changes the world. */
  readonly readOnlyTools?: readonly string[];
  readonly isFailure?: ToolFailureTest;
  /** Puts a call to a person; without it, what would be asked is refused. */
  readonly askUser?: (call: Pick<ToolCall, 'tool' | 'input'>, question: string) => Promise<boolean>;
};

/** A request that the caller is about to make. A message that is none of ours to understand is null. */
export type InterceptedRequest = {
  readonly model: string;
  readonly system: string;
  readonly tools: readonly ToolSpec[];
  readonly messages: readonly (Message | null)[];
  /** The marks of its beginnings, where they are known already. */
  readonly marks?: readonly number[];
};

/** An answer that came. `raw` is kept where the answer has to be shown to the model again. */
export type InterceptedResponse = {
  readonly message: Message;
  readonly finish: FinishReason;
  readonly usage?: Usage;
  readonly usd?: number;
  readonly ms?: number;
  readonly raw?: Json;
};

/** A call that may not be made, and why. */
export type DeniedCall = { readonly id: string; readonly tool: string; readonly reason: string };

/** What to do with a request or after an answer. */
export type InterceptAction =
  /** Send the caller's messages with these additions, each in its place, the earlier ones too: then the prefix holds. */
  | { readonly type: 'send'; readonly additions: readonly MessageAddition[]; readonly denied: readonly DeniedCall[] }
  /** Hand the answer to the caller. */
  | { readonly type: 'pass' }
  /** Send nothing and let no call of the answer through: the run is over. */
  | { readonly type: 'stop'; readonly reason: StopReason; readonly detail: string };

/** A guide of one conversation. Calls come one at a time: a request, its answer, the next request. */
export type Interceptor = {
  readonly state: RunState;
  readonly log: Log;
  beforeRequest(asked: InterceptedRequest): Promise<InterceptAction>;
  afterResponse(answered: InterceptedResponse): Promise<InterceptAction>;
  /** Takes an answer as one that was let through, whatever the gates would have said: what has happened is history. */
  acceptResponse(answered: InterceptedResponse): Promise<void>;
  /** Keeps that no answer came, and why. The caller has seen the failure itself, and may try again. */
  recordFailure(why: string): Promise<void>;
  /** Keeps something that the guide cannot act on. */
  remark(key: string, value: Json): Promise<void>;
  /** The event after which this many of the caller's messages were known; nothing if they never were. */
  findEventAfter(messages: number): string | undefined;
  /** What the gates say to a call now; for callers whose tools are wrapped one by one. */
  evaluateCall(call: Pick<ToolCall, 'id' | 'tool' | 'input'>): Promise<DeniedCall | undefined>;
  close(): Promise<void>;
};

const maxDenials = 5;

/** Limits that a caller did not ask for do not stop its loop. */
const noLimits: Partial<Limits> = { turns: 1e9, errors: 1e9, stuckAfter: 0 };

/** Opens a guide. */
export async function createInterceptor(options: InterceptorOptions = {}): Promise<Interceptor> {
  const { log = memoryLog(), isFailure = defaultToolFailureTest } = options;
  const given = createCallerHistoryView((notes, nonce) => renderNotes(notes, nonce)[0]?.text ?? '');
  const { rules, views } = mergeExtensions([options]);
  const head = await openSessionWriter(log, runStateView(rules, [...views, given]), 'root');
  let agent = createInterceptorParts(options, {
    model: head.state.model,
    tools: head.state.tools,
    system: head.state.system,
  });
  const signal = new AbortController().signal;
  const additions = (): readonly MessageAddition[] => listAdditions(readView(head.state, given));

  /** A conversation that goes another way than before is a branch from where they part. */
  async function goBack({ messages, marks = computePrefixHashes(messages) }: InterceptedRequest): Promise<void> {
    const seen = readView(head.state, given);
    const common = countCommonMessages(seen, marks);
    if (common === seen.marks.length) return;
    const known = rewindToTurnStart(messages, common);
    const at = seen.marks.items[known - 1]?.event ?? seen.start;
    await head.branch(at, [{ type: 'branch-started', from: at, reason: 'edited' }]);
  }

  /** Takes in what is new. */
  async function takeIn({ messages }: InterceptedRequest): Promise<void> {
    const { marks } = readView(head.state, given);
    const known = marks.length;
    let mark = known === 0 ? 0 : (marks.items[known - 1]?.mark ?? 0);
    for (const message of messages.slice(known)) {
      mark = extendPrefixHash(mark, message);
      await head.record((state) => callerMessageToFacts(message, state, isFailure));
      await head.record([{ type: 'annotation-added', key: MESSAGE_REMARK, value: mark }]);
    }
  }

  /** A model that will not hear is not asked for ever. */
  function exhausted(): Step | undefined {
    const { marks, additions: made } = readView(head.state, given);
    const place = marks.length - 1;
    const times = toArray(made).filter(({ type, after }) => type === 'exchange' && after === place).length;
    if (times < Math.max(1, options.limits?.errors ?? maxDenials)) return undefined;
    return { type: 'end', reason: 'error-threshold', detail: `${times} answers in a row were refused.` };
  }

  /** Begins a turn of the model, unless the run is over. */
  async function send(refused: readonly DeniedCall[]): Promise<InterceptAction> {
    const { state } = head;
    const step = exhausted() ?? nextStep(state, agent);
    if (step.type === 'end') {
      await head.record((now) => runEndedFacts(now, step), { durable: true });
      return { type: 'stop', reason: step.reason, detail: step.detail ?? '' };
    }
    const { notes, remarks } = collectNotes(agent, state);
    const inputs = deliverableInputs(state).map(({ input }) => input);
    await head.record([...remarks, { type: 'turn-started', turn: state.turn + 1, inputs, notes }], { durable: true });
    return { type: 'send', additions: additions(), denied: refused };
  }

  async function objections(calls: readonly ToolCall[]): Promise<readonly DeniedCall[]> {
    const found: DeniedCall[] = [];
    for (const call of calls) {
      const reason = await getDenialReason(agent, call, head.state, options.askUser);
      if (reason !== undefined) found.push({ id: call.id, tool: call.tool, reason });
    }
    return found;
  }

  return {
    log,
    get state() {
      return head.state;
    },
    async beforeRequest(asked) {
      await goBack(asked);
      await recordSessionStart(head, asked, options);
      agent = createInterceptorParts(options, asked);
      await takeIn(asked);
      await head.record((state) => [
        ...closeOpenCallFacts(state),
        ...runStartedFacts(state, agent, { ...noLimits, ...options.limits }),
        ...pendingInputFacts(state),
      ]);
      return send([]);
    },
    async afterResponse(answered) {
      await head.record((state) => [turnEndedFact(state, answered)], { durable: true });
      const refused = await objections(head.state.calls);
      if (refused.length === 0) {
        await head.record((state) => state.calls.map((call) => toolStartedFact(call, state)), { durable: true });
        if (head.state.calls.length) return { type: 'pass' };
        if (nextStep(head.state, agent).type === 'check')
          await runChecks(agent, { writer: head, signal, onChunk: () => {}, clock: () => performance.now() });
        const step = nextStep(head.state, agent);
        if (step.type === 'end') await head.record((state) => runEndedFacts(state, step), { durable: true });
        if (step.type !== 'turn') return { type: 'pass' };
      }
      // The caller never sees this answer, but the model has to: it is shown again with what was wrong with it.
      await head.record(denialFacts(answered, refused), { durable: true });
      return send(refused);
    },
    async acceptResponse(answered) {
      await head.record((state) => [turnEndedFact(state, answered)]);
      await head.record((state) => state.calls.map((call) => toolStartedFact(call, state)));
    },
    async recordFailure(why) {
      await head.record([{ type: 'annotation-added', key: 'guide/no-answer', value: why }]);
    },
    async remark(key, value) {
      await head.record([{ type: 'annotation-added', key, value }]);
    },
    findEventAfter(messages) {
      const { marks, start } = readView(head.state, given);
      if (messages === 0) return start;
      return messages <= marks.length ? marks.items[messages - 1]?.event : undefined;
    },
    async evaluateCall(call) {
      const reason = await getDenialReason(agent, call, head.state, options.askUser);
      return reason === undefined ? undefined : { id: call.id, tool: call.tool, reason };
    },
    close: () => log.close(),
  };
}

function createInterceptorParts(
  options: InterceptorOptions,
  { model, tools, system }: Omit<InterceptedRequest, 'messages'>,
): ResolvedAgent {
  const { rules, views, gates, stops, checks, reminders } = mergeExtensions([options]);
  const provider = createPlaceholderProvider(model, options);
  const parts = { rules, views, gates, stops, checks, reminders, provider, system };
  // The history is the caller's: it is not ours to make shorter.
  const { compactor: _, ...own } = resolveAgent(parts);
  // Nor are its tools: whether they are well described is for it to know.
  return {
    ...own,
    tools: new Map(createPlaceholderTools(tools, options.readOnlyTools).map((tool) => [tool.name, tool])),
  };
}

/** The caller runs what the model wrote, so a call that a rule would change has to be made by the model. */
const formatRewriteRequest = ({ tool }: Pick<ToolCall, 'tool'>, input: Json): string =>
  `Call ${tool} with these arguments instead: ${JSON.stringify(input)}`;

async function getDenialReason(
  agent: ResolvedAgent,
  call: ToolCall,
  state: RunState,
  ask: InterceptorOptions['askUser'],
): Promise<string | undefined> {
  // A client may read what JSON.parse does not, and the gates would have judged something else.
  if (call.invalid !== undefined && agent.gates.length > 0)
    return 'The arguments of this call are not JSON, so it was not made. Make it again with arguments that are.';
  let now = call;
  for (let questions = 0; questions < 8; questions++) {
    const ruling = await evaluateGates(agent, now, state);
    if (ruling.type === 'allow')
      return ruling.input === call.input ? undefined : formatRewriteRequest(call, ruling.input);
    if (ruling.type === 'deny') return ruling.reason;
    if (!(await ask?.(call, ruling.question)))
      return ask
        ? 'The user denied this tool call.'
        : `This call needs a person's yes, and nobody can be asked: ${ruling.question}`;
    now = { ...now, granted: [...(now.granted ?? []), ruling.question] };
  }
  return 'The rules keep asking about this call.';
}
