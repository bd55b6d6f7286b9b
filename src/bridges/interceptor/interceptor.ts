// Framework-neutral interceptor: `before(request)` and `after(response)` around the model calls of another agent loop.
import { mergeExtensions, type Extension } from '../../agent/index.ts';
import {
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
  type DecisionSource,
  type Fact,
  type ToolCall,
  type FinishReason,
  type Json,
  type Limits,
  type Log,
  type Message,
  type NamedView,
  type Price,
  type RunState,
  type Step,
  type StopReason,
  type ToolSpec,
  type Usage,
} from '../../core/index.ts';
import { memoryLog } from '../../stores/index.ts';
import { createCallerFlow, type BridgeFlowOptions } from '../caller-flow/caller-flow.ts';
import { createReplyEcho } from '../caller-flow/reply-echo.ts';
import { labelsKey, untrustedKey, type UntrustedText } from '../caller-flow/view.ts';
import {
  listAdditions,
  rewindToTurnStart,
  countCommonMessages,
  MESSAGE_REMARK,
  createCallerHistoryView,
  extendPrefixHash,
  computePrefixHashes,
} from './caller-history.ts';
import type { MessageAddition } from '../../wire/index.ts';
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
import { assertFewCalls, decideCallerCall, type AskUser } from './decide-call.ts';
import { createInterceptorParts, noLimits } from './parts.ts';
import { providerOutputFacts } from './provider-output.ts';
import { listReplies, repliesFact } from './replies.ts';
import { readRewrittenWords } from './rewritten-words.ts';

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
  readonly askUser?: AskUser;
  /** The flow policy: values of third parties decide nothing without an approval. On by default; see docs/flow.md. */
  readonly flow?: BridgeFlowOptions | NonNullable<BridgeFlowOptions['mode']>;
};

/** A request of the caller. A message we cannot interpret is null. */
export type InterceptedRequest = {
  readonly model: string;
  readonly system: string;
  readonly tools: readonly ToolSpec[];
  readonly messages: readonly (Message | null)[];
  /** The prefix hashes, if already known. */
  readonly marks?: readonly number[];
  /** Names of tools that have no effect outside the caller's program. */
  readonly readOnlyTools?: readonly string[];
  /** What is known of the history that the caller replaced by this one, if its new messages may repeat it: texts of third parties, and whether a text repeats a reply. */
  readonly replaced?: { readonly untrusted: readonly UntrustedText[]; isReply(text: string): boolean };
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
export type DeniedCall = {
  readonly id: string;
  readonly tool: string;
  readonly reason: string;
  /** What denied it. */
  readonly by?: DecisionSource;
};

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
  /** The texts of third parties in this conversation, as the flow policy knows them. */
  listUntrusted(): Promise<readonly UntrustedText[]>;
  /** Adds texts of third parties that this conversation does not have yet. */
  addUntrusted(texts: readonly UntrustedText[]): Promise<void>;
  /** Evaluates the gates for a call; for callers that wrap single tools. */
  evaluateCall(call: Pick<ToolCall, 'id' | 'tool' | 'input'>): Promise<DeniedCall | undefined>;
  close(): Promise<void>;
};

const maxDenials = 5;

/** Creates an interceptor. */
export async function createInterceptor(options: InterceptorOptions = {}): Promise<Interceptor> {
  const { log = memoryLog(), isFailure = defaultToolFailureTest } = options;
  const given = createCallerHistoryView((notes, nonce) => renderNotes(notes, nonce)[0]?.text ?? '');
  const { rules, views } = mergeExtensions([options]);
  const flow = createCallerFlow(
    typeof options.flow === 'string' ? { mode: options.flow } : (options.flow ?? {}),
    options.askUser !== undefined,
  );
  const head = await openSessionWriter(
    log,
    runStateView(rules, [...views, given, ...(flow ? [flow.view as NamedView<unknown>] : [])]),
    'root',
  );
  let agent = createInterceptorParts(
    options,
    { model: head.state.model, tools: head.state.tools, system: head.state.system },
    flow,
  );
  const signal = new AbortController().signal;
  const additions = (): readonly MessageAddition[] => listAdditions(readView(head.state, given));

  async function addUntrusted(texts: readonly UntrustedText[]): Promise<void> {
    if (!flow || texts.length === 0) return;
    const known = new Set((await flow.listUntrusted(head.state)).map(({ text }) => text));
    const added = texts.filter(({ text }) => !known.has(text));
    await head.record(added.map((value): Fact => ({ type: 'annotation-added', key: untrustedKey, value })));
  }

  /** A diverging conversation becomes a branch. It keeps all labels: what the caller drops may be in what it puts there instead. */
  async function goBack({ messages, marks = computePrefixHashes(messages) }: InterceptedRequest): Promise<boolean> {
    const seen = readView(head.state, given);
    const common = countCommonMessages(seen, marks);
    if (common === seen.marks.length) return false;
    const known = rewindToTurnStart(messages, common);
    const at = seen.marks.items[known - 1]?.event ?? seen.start;
    const labels = await flow?.serializeLabels(head.state);
    const replies = await repliesFact(log);
    await head.branch(at, [
      { type: 'branch-started', from: at, reason: 'edited' },
      ...(labels === undefined ? [] : [{ type: 'annotation-added', key: labelsKey, value: labels } as const, replies]),
    ]);
    return true;
  }

  /** Records new messages. */
  async function takeIn({ messages, replaced }: InterceptedRequest, isRewritten: boolean): Promise<void> {
    const { marks } = readView(head.state, given);
    const known = marks.length;
    const echo = createReplyEcho();
    if (isRewritten) for (const text of await listReplies(log)) echo.add(text, 'reply');
    let mark = known === 0 ? 0 : (marks.items[known - 1]?.mark ?? 0);
    for (const [i, message] of messages.entries()) {
      if (i < known) continue;
      mark = extendPrefixHash(mark, message);
      const isLast = i === messages.length - 1;
      const isReply = (text: string): boolean => echo.find(text) !== undefined || replaced?.isReply(text) === true;
      const words = isRewritten
        ? await readRewrittenWords(message, { flow, isReply, state: head.state, isLast })
        : undefined;
      await head.record((state) => callerMessageToFacts(message, state, isFailure, words));
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

  const decide = (call: ToolCall, recordAs: string): Promise<DeniedCall | undefined> =>
    decideCallerCall(
      { agent, getState: () => head.state, record: (facts) => head.record(facts), askUser: options.askUser },
      call,
      recordAs,
    );

  async function objections(calls: readonly ToolCall[]): Promise<readonly DeniedCall[]> {
    const found: DeniedCall[] = [];
    for (const call of calls) {
      const denied = await decide(call, call.id);
      if (denied) found.push(denied);
    }
    return found;
  }

  return {
    log,
    get state() {
      return head.state;
    },
    async beforeRequest(asked) {
      const isBranch = await goBack(asked);
      await recordSessionStart(head, asked, options);
      agent = createInterceptorParts(options, asked, flow);
      await addUntrusted(asked.replaced?.untrusted ?? []);
      await takeIn(asked, isBranch || asked.replaced !== undefined);
      await head.record((state) => [
        ...closeOpenCallFacts(state),
        ...runStartedFacts(state, agent, { ...noLimits, ...options.limits }),
        ...pendingInputFacts(state),
      ]);
      return send([]);
    },
    async afterResponse(answered) {
      assertFewCalls(answered);
      await head.record((state) => [turnEndedFact(state, answered), ...providerOutputFacts(answered)], {
        durable: true,
      });
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
    async listUntrusted() {
      return (await flow?.listUntrusted(head.state)) ?? [];
    },
    addUntrusted,
    // The call may have been edited: an answer about it is none about the call of the model.
    evaluateCall: (call) => decide(call, `${call.id}/${head.state.seq}`),
    close: () => log.close(),
  };
}
