// Framework-neutral interceptor: `before(request)` and `after(response)` around the model calls of another agent loop.
import { resolveAgent, mergeExtensions, type Extension } from '../../agent/index.ts';
import {
  evaluateGates,
  FairleadError,
  messageToolCalls,
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
} from './caller-history.ts';
import { maxResponseCalls, type MessageAddition } from '../../wire/index.ts';
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

/** Options of an interceptor: rules, gates, stop conditions, checks, views, reminders, and facts about the caller's model. */
export type InterceptorOptions = Omit<Extension, 'tools' | 'providers' | 'renderers'> & {
  /** The log of the conversation; default in memory. */
  readonly log?: Log;
  readonly session?: string;
  /** The nonce of a new session; default random. */
  readonly nonce?: string;
  /** Text appended to the system text of a new session, for example about reminders. */
  readonly system?: string;
  /** Limits; none by default, because the caller's loop has its own. A response is rejected at most 5 times in a row, or `errors` times. */
  readonly limits?: Partial<Limits>;
  readonly price?: Price;
  readonly window?: number;
  /** Names of read-only tools; all others count as external. */
  readonly readOnlyTools?: readonly string[];
  readonly isFailure?: ToolFailureTest;
  /** Asks the user about a call; without it, such calls are denied. */
  readonly askUser?: (call: Pick<ToolCall, 'tool' | 'input'>, question: string) => Promise<boolean>;
};

/** A request of the caller. A message we cannot interpret is null. */
export type InterceptedRequest = {
  readonly model: string;
  readonly system: string;
  readonly tools: readonly ToolSpec[];
  readonly messages: readonly (Message | null)[];
  /** The prefix hashes, if already known. */
  readonly marks?: readonly number[];
};

/** A response. `raw` is stored if the model must see it again. */
export type InterceptedResponse = {
  readonly message: Message;
  readonly finish: FinishReason;
  readonly usage?: Usage;
  readonly usd?: number;
  readonly ms?: number;
  readonly raw?: Json;
};

/** A denied call and the reason. */
export type DeniedCall = { readonly id: string; readonly tool: string; readonly reason: string };

/** What to do with a request or a response. */
export type InterceptAction =
  /** Send the caller's messages with these additions, including earlier ones, so that the prefix stays unchanged. */
  | { readonly type: 'send'; readonly additions: readonly MessageAddition[]; readonly denied: readonly DeniedCall[] }
  /** Pass the response to the caller. */
  | { readonly type: 'pass' }
  /** Send nothing and pass no call: the run is over. */
  | { readonly type: 'stop'; readonly reason: StopReason; readonly detail: string };

/** The interceptor of one conversation. Use it sequentially: request, response, next request. */
export type Interceptor = {
  readonly state: RunState;
  readonly log: Log;
  beforeRequest(asked: InterceptedRequest): Promise<InterceptAction>;
  afterResponse(answered: InterceptedResponse): Promise<InterceptAction>;
  /** Records a response without asking the gates: it already happened. */
  acceptResponse(answered: InterceptedResponse): Promise<void>;
  /** Records that no response came. The caller handles the failure and may retry. */
  recordFailure(why: string): Promise<void>;
  /** Records an annotation. */
  remark(key: string, value: Json): Promise<void>;
  /** Returns the event after which this many messages were known, if they ever were. */
  findEventAfter(messages: number): string | undefined;
  /** Evaluates the gates for a call; for callers that wrap single tools. */
  evaluateCall(call: Pick<ToolCall, 'id' | 'tool' | 'input'>): Promise<DeniedCall | undefined>;
  close(): Promise<void>;
};

const maxDenials = 5;

/** Throws if a response has too many calls: the work for each call grows with their number. */
function assertFewCalls({ message }: InterceptedResponse): void {
  if (messageToolCalls(message).length > maxResponseCalls)
    throw new FairleadError('bridge/too-many-calls', `The response has more than ${maxResponseCalls} tool calls.`, {
      blame: 'provider',
      hint: 'Ask for fewer tool calls at once.',
    });
}

/** Without limits of the caller, none apply. */
const noLimits: Partial<Limits> = { turns: 1e9, errors: 1e9, stuckAfter: 0 };

/** Creates an interceptor. */
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

  /** A diverging conversation becomes a branch. */
  async function goBack({ messages, marks = computePrefixHashes(messages) }: InterceptedRequest): Promise<void> {
    const seen = readView(head.state, given);
    const common = countCommonMessages(seen, marks);
    if (common === seen.marks.length) return;
    const known = rewindToTurnStart(messages, common);
    const at = seen.marks.items[known - 1]?.event ?? seen.start;
    await head.branch(at, [{ type: 'branch-started', from: at, reason: 'edited' }]);
  }

  /** Records new messages. */
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

  /** Bounds the retries of rejected responses. */
  function exhausted(): Step | undefined {
    const { marks, additions: made } = readView(head.state, given);
    const place = marks.length - 1;
    const times = toArray(made).filter(({ type, after }) => type === 'exchange' && after === place).length;
    if (times < Math.max(1, options.limits?.errors ?? maxDenials)) return undefined;
    return { type: 'end', reason: 'error-threshold', detail: `${times} answers in a row were refused.` };
  }

  /** Starts a turn unless the run is over. */
  async function send(refused: readonly DeniedCall[]): Promise<InterceptAction> {
    const { state } = head;
    const step = exhausted() ?? nextStep(state, agent);
    if (step.type === 'end') {
      await head.record((now) => runEndedFacts(now, step), { durable: true });
      return { type: 'stop', reason: step.reason, detail: step.detail ?? '' };
    }
    const { notes, annotations } = collectNotes(agent, state);
    const inputs = deliverableInputs(state).map(({ input }) => input);
    await head.record([...annotations, { type: 'turn-started', turn: state.turn + 1, inputs, notes }], {
      durable: true,
    });
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
      assertFewCalls(answered);
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
      // The caller never sees this response; the model sees it again with the reasons.
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
  // The caller owns the history, so it is never compacted here.
  const { compactor: _, ...own } = resolveAgent(parts);
  // The caller's tools are not linted.
  return {
    ...own,
    tools: new Map(createPlaceholderTools(tools, options.readOnlyTools).map((tool) => [tool.name, tool])),
  };
}

/** The caller runs what the model wrote, so a rewrite becomes a denial that asks the model to change the call. */
const formatRewriteRequest = ({ tool }: Pick<ToolCall, 'tool'>, input: Json): string =>
  `Call ${tool} with these arguments instead: ${JSON.stringify(input)}`;

async function getDenialReason(
  agent: ResolvedAgent,
  call: ToolCall,
  state: RunState,
  ask: InterceptorOptions['askUser'],
): Promise<string | undefined> {
  // A lenient client might parse arguments that JSON.parse rejects, so the gates could decide about other input.
  if (call.invalid !== undefined && agent.gates.length > 0)
    return 'The arguments of this call are not JSON, so it was not made. Make it again with arguments that are.';
  let now = call;
  for (let questions = 0; questions < 8; questions++) {
    const ruling = await evaluateGates(agent, now, state);
    if (ruling.type === 'allow')
      return ruling.input === call.input ? undefined : formatRewriteRequest(call, ruling.input);
    if (ruling.type === 'deny') return ruling.reason;
    if (!(await ask?.(call, ruling.question)))
      return ask ? 'Denied by user.' : `This call needs approval, and there is no user to ask: ${ruling.question}`;
    now = { ...now, granted: [...(now.granted ?? []), ruling.question] };
  }
  return 'The gates keep asking about this call.';
}
