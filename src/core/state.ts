// The run as a pure fold over its events. If it is not in the log it did not happen.
import type { Event, Limits, Note, Spent, StopReason } from './fact.ts';
import type { Failure } from './errors.ts';
import { canonical, digest, type Json } from './json.ts';
import { callsOf, type Message, type Part, type ResultPart, type ToolChoice, type ToolSpec } from './message.ts';
import { enqueue, takeShown, wordsOf } from './notes.ts';
import type { Rule, View } from './ports.ts';
import { noSpending, spend } from './spending.ts';
import { last, push, swapLast, trailOf, type Trail } from './trail.ts';

/** An input that no turn has delivered yet. */
export type PendingInput = {
  readonly input: string;
  readonly how: 'prompt' | 'steer' | 'follow-up';
  readonly parts: readonly Part[];
};

/** A tool call that the model made and that is not yet part of the history. */
export type Call = {
  readonly id: string;
  readonly tool: string;
  readonly input: Json;
  readonly invalid?: string;
  readonly key?: string;
  readonly ask?: { readonly question: string; readonly allowed?: boolean };
  readonly result?: ResultPart;
};

/** Everything that decides what happens next. */
export type RunState = {
  readonly seq: number;
  readonly head: string | null;
  readonly session: string;
  readonly epoch: number;
  readonly system: string;
  readonly tools: readonly ToolSpec[];
  readonly model: string;
  readonly messages: Trail<Message>;
  /** How many of the messages the last request held. */
  readonly sent: number;
  /** Tokens the next request is expected to hold. */
  readonly context: number;
  readonly pending: readonly PendingInput[];
  readonly queue: readonly Note[];
  readonly calls: readonly Call[];
  readonly loaded: readonly string[];
  readonly run: string | undefined;
  readonly limits: Limits | undefined;
  readonly choice: ToolChoice;
  readonly turn: number;
  readonly spent: Spent;
  readonly total: Spent;
  readonly failures: number;
  readonly failure: Failure | undefined;
  readonly reasks: number;
  readonly compactions: number;
  /** Digests of the latest rounds of calls with their results. */
  readonly rounds: readonly number[];
  readonly inTurn: boolean;
  readonly due: boolean;
  readonly truncated: boolean;
  readonly completed: boolean;
  readonly verified: boolean;
  readonly abstained: string | undefined;
  readonly ended: { readonly reason: StopReason; readonly detail?: string; readonly error?: Failure } | undefined;
};

const initial: RunState = {
  seq: 0,
  head: null,
  session: '',
  epoch: 0,
  system: '',
  tools: [],
  model: '',
  messages: trailOf<Message>(),
  sent: 0,
  context: 0,
  pending: [],
  queue: [],
  calls: [],
  loaded: [],
  run: undefined,
  limits: undefined,
  choice: 'auto',
  turn: 0,
  spent: noSpending,
  total: noSpending,
  failures: 0,
  failure: undefined,
  reasks: 0,
  compactions: 0,
  rounds: [],
  inTurn: false,
  due: false,
  truncated: false,
  completed: false,
  verified: false,
  abstained: undefined,
  ended: undefined,
};

/** Rules are pure, so the queue of notes is part of the view: a crash cannot lose one. */
export const runView = (rules: readonly Rule[] = []): View<RunState> => ({
  initial: { ...initial, messages: trailOf<Message>() },
  on(state, event) {
    const now = { ...step(state, event), seq: event.seq, head: event.id };
    let queue = now.queue;
    for (const rule of rules) for (const note of rule(event, now)) queue = enqueue(queue, note);
    return queue === now.queue ? now : { ...now, queue };
  },
});

/** The state after these events. */
export const fold = <S>(view: View<S>, events: Iterable<Event>, from: S = view.initial): S => {
  let state = from;
  for (const event of events) state = view.on(state, event);
  return state;
};

function step(s: RunState, e: Event): RunState {
  switch (e.type) {
    case 'session-started':
      return { ...s, session: e.session };
    case 'epoch-started':
      return startEpoch(s, e);
    case 'branch-started':
      return {
        ...settleOpenCalls(s, 'The conversation went back to before this call was settled.'),
        pending: [],
        queue: [],
        run: undefined,
        due: false,
        inTurn: false,
        ended: undefined,
      };
    case 'input-received':
      return e.how === 'continue'
        ? { ...s, due: true, verified: false }
        : { ...s, pending: [...s.pending, { input: e.input, how: e.how, parts: e.parts }], verified: false };
    case 'run-started':
      return {
        ...s,
        run: e.run,
        limits: e.limits,
        choice: e.choice ?? 'auto',
        spent: noSpending,
        failures: 0,
        failure: undefined,
        reasks: 0,
        compactions: 0,
        rounds: [],
        truncated: false,
        completed: false,
        abstained: undefined,
        ended: undefined,
      };
    case 'turn-started':
      return startTurn(s, e.inputs, e.notes);
    case 'turn-ended':
      return endTurn(s, e);
    case 'turn-failed':
      return {
        ...charge(s, { ...e.usage, ...(e.usd === undefined ? {} : { usd: e.usd }), ms: e.ms }),
        inTurn: false,
        failure: e.error,
        failures: s.failures + 1,
        messages: e.partial && !e.error.retry ? push(s.messages, cutOff(e.partial)) : s.messages,
      };
    case 'answer-rejected':
      return {
        ...s,
        reasks: s.reasks + 1,
        due: true,
        verified: false,
        queue: enqueue(s.queue, { key: 'answer-rejected', text: e.text, priority: 50 }),
      };
    case 'ask-raised':
      return patchCall(s, e.call, { ask: { question: e.question } });
    case 'ask-answered':
      return patchCall(s, e.call, {
        ask: { question: s.calls.find((call) => call.id === e.call)?.ask?.question ?? '', allowed: e.allowed },
      });
    case 'tool-started':
      return patchCall(s, e.call, { key: e.key });
    case 'tool-ended':
      return endCall(s, e);
    case 'checks-ended':
      return e.verdict.type === 'passed'
        ? { ...s, verified: true }
        : e.verdict.type === 'abstained'
          ? { ...s, abstained: e.verdict.why }
          : {
              ...s,
              due: true,
              queue: enqueue(s.queue, { key: `check/${e.check}`, text: e.verdict.why, priority: 50 }),
            };
    case 'run-ended':
      return {
        ...s,
        run: undefined,
        due: false,
        ended: {
          reason: e.reason,
          ...(e.detail === undefined ? {} : { detail: e.detail }),
          ...(e.error === undefined ? {} : { error: e.error }),
        },
      };
    case 'remark-made':
      return s;
  }
}

function startEpoch(s: RunState, e: Event & { type: 'epoch-started' }): RunState {
  const now = { ...s, epoch: e.epoch, system: e.system, tools: e.tools, model: e.model, sent: 0 };
  if (!e.baseline) return { ...now, context: estimate(e.system) + estimate(JSON.stringify(e.tools)) + s.context };
  const { session, messages, turn, loaded, queue, total } = e.baseline;
  const context =
    estimate(e.system) +
    estimate(JSON.stringify(e.tools)) +
    messages.reduce((sum, each) => sum + estimate(wordsIn(each)), 0);
  return {
    ...now,
    session,
    messages: trailOf(messages),
    turn,
    loaded,
    queue,
    total,
    context,
    calls: [],
    failure: undefined,
    compactions: s.compactions + (e.reason === 'compacted' ? 1 : 0),
  };
}

function startTurn(s: RunState, inputs: readonly string[], notes: readonly Note[]): RunState {
  const delivered = s.pending.filter((each) => inputs.includes(each.input));
  const parts = [...delivered.flatMap((each) => each.parts), ...wordsOf(notes)];
  const now = parts.length ? say(s, parts) : s;
  return {
    ...now,
    turn: s.turn + 1,
    inTurn: true,
    due: true,
    verified: false,
    sent: now.messages.length,
    truncated: false,
    failure: undefined,
    pending: delivered.length ? s.pending.filter((each) => !inputs.includes(each.input)) : s.pending,
    queue: takeShown(s.queue, notes),
    spent: { ...s.spent, turns: s.spent.turns + 1 },
    total: { ...s.total, turns: s.total.turns + 1 },
  };
}

/** Adds words of the user's side. What a request already held is never changed: after it, a stand-in answer keeps the roles alternating. */
function say(s: RunState, parts: readonly Part[]): RunState {
  const tail = last(s.messages);
  const context = s.context + parts.reduce((sum, part) => sum + estimate(part.type === 'text' ? part.text : ''), 0);
  const message: Message = { role: 'user', parts };
  if (!tail || tail.role === 'assistant') return { ...s, context, messages: push(s.messages, message) };
  if (s.messages.length > s.sent) {
    if (tail.role === 'user')
      return { ...s, context, messages: swapLast(s.messages, { role: 'user', parts: [...tail.parts, ...parts] }) };
    return { ...s, context, messages: push(s.messages, message) };
  }
  return { ...s, context, messages: push(push(s.messages, noAnswer), message) };
}

const cutOff = (text: string): Message => ({ role: 'assistant', parts: [{ type: 'text', text: `${text} [cut off]` }] });

const noAnswer: Message = { role: 'assistant', parts: [{ type: 'text', text: '(no answer)' }] };

function endTurn(s: RunState, e: Event & { type: 'turn-ended' }): RunState {
  const words = estimate(wordsIn(e.message));
  const used = { ...e.usage, input: e.usage.input ?? s.context, output: e.usage.output ?? words };
  const now = charge(s, { ...used, usd: e.usd ?? 0, unpriced: e.usd === undefined || e.estimated ? 1 : 0, ms: e.ms });
  const calls = callsOf(e.message).map((part): Call => ({
    id: part.id,
    tool: part.tool,
    input: part.input,
    ...(part.invalid === undefined ? {} : { invalid: part.invalid }),
  }));
  const spoken = e.message.parts.length > 0;
  return {
    ...now,
    inTurn: false,
    calls,
    due: false,
    failure: undefined,
    failures: calls.length ? s.failures : 0,
    truncated: e.finish === 'length',
    choice: calls.length ? 'auto' : s.choice,
    messages: spoken ? push(s.messages, e.message) : s.messages,
    context: used.input + used.output,
  };
}

function endCall(s: RunState, e: Event & { type: 'tool-ended' }): RunState {
  const index = s.calls.findIndex((call) => call.id === e.call && !call.result);
  if (index < 0) return s;
  const call = s.calls[index] as Call;
  const result: ResultPart = {
    type: 'tool-result',
    id: call.id,
    tool: call.tool,
    text: e.text,
    failed: e.outcome !== 'ok',
  };
  const calls = s.calls.with(index, { ...call, result });
  const charged = charge(s, { calls: call.key === undefined ? 0 : 1, ms: e.ms, ...e.spent });
  const now: RunState = {
    ...charged,
    calls,
    completed: s.completed || e.completes === true,
    loaded: e.loads?.length ? [...new Set([...s.loaded, ...e.loads])] : s.loaded,
    queue: (e.notes ?? []).reduce(enqueue, s.queue),
  };
  return calls.every((each) => each.result) ? endRound(now) : now;
}

/** All calls of an answer are settled: their results become one message, in call order. */
function endRound(s: RunState): RunState {
  const results = s.calls.map((call) => call.result as ResultPart);
  const round = digest(s.calls.map((call) => `${call.tool} ${canonical(call.input)} ${call.result?.text}`).join('\n'));
  const failed = results.every((result) => result.failed);
  return {
    ...s,
    calls: [],
    due: true,
    failures: failed ? s.failures + 1 : 0,
    rounds: [...s.rounds.slice(-23), round],
    messages: push(s.messages, { role: 'tool', parts: results }),
    context: s.context + results.reduce((sum, result) => sum + estimate(result.text), 0),
  };
}

/** Calls that will never settle get a result that says so, so that the history stays legal. */
export function settleOpenCalls(s: RunState, why: string): RunState {
  if (s.calls.length === 0) return s;
  const calls = s.calls.map((call): Call =>
    call.result
      ? call
      : { ...call, result: { type: 'tool-result', id: call.id, tool: call.tool, text: why, failed: true } },
  );
  return endRound({ ...s, calls });
}

const patchCall = (s: RunState, id: string, patch: Partial<Call>): RunState => ({
  ...s,
  calls: s.calls.map((call) => (call.id === id && !call.result ? { ...call, ...patch } : call)),
});

const charge = (s: RunState, used: Partial<Spent>): RunState => ({
  ...s,
  spent: spend(s.spent, used),
  total: spend(s.total, used),
});

/** Tokens of a text where no provider has counted them: four characters each. */
export const estimate = (text: string): number => Math.ceil(text.length / 4);

const wordsIn = (message: Message): string =>
  message.parts
    .map((part) =>
      part.type === 'tool-call' ? part.tool + JSON.stringify(part.input) : part.type === 'file' ? part.data : part.text,
    )
    .join('');
