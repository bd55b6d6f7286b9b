// Executes tool calls: asks the gates, records the intent before the effect, and records one result per call in call order.
import { isDetached, raceAbort } from './abort.ts';
import { FairleadError, errorMessage } from './errors.ts';
import type { Fact, ToolOutcome } from './fact.ts';
import { evaluateGates } from './evaluate-gates.ts';
import { isObject, type Json } from './json.ts';
import type { RunContext } from './loop.ts';
import { markUntrusted, toolResultFact, type ToolEndedFact } from './tool-result.ts';
import type { ResolvedAgent, Tool, ToolContext } from './ports.ts';
import { systemPort } from './process-port.ts';
import { escapeForProvider, renderToolOutput } from './render-tool-output.ts';
import type { ToolCall, RunState } from './state.ts';
import { resolveUnknownOutcome } from './unknown-outcome.ts';
import { escapeReminderTags } from './untrusted-text.ts';

/** The tool that calls a deferred tool: the tool list that the model sees never changes, so the cached prefix stays valid. */
export const USE_TOOL = 'use_tool';

type ReadyCall = { readonly call: ToolCall; readonly tool: Tool; readonly input: Json; readonly key: string };

/** What is recorded about a call before it starts, or instead of that, and the call if it may run. */
type PreparedCall = { readonly facts: readonly Fact[]; readonly call?: ReadyCall };

/** Runs these calls concurrently. The intent of each is durable before its effect; results are recorded in call order. */
export async function executeCalls(
  agent: ResolvedAgent,
  calls: readonly ToolCall[],
  context: RunContext,
): Promise<void> {
  const { writer } = context;
  const prepared = await prepareCalls(agent, calls, context);
  const ready = prepared.flatMap(({ call }) => call ?? []);
  const started = prepared.flatMap(({ facts, call }) => [...facts, ...(call ? callStartedFacts(call) : [])]);
  await writer.record(started, { durable: ready.some(({ tool }) => tool.effect !== 'read') });
  const localCalls = ready.filter(({ tool }) => tool.clientSideQuestion === undefined);
  const running = localCalls.map((each) => executeCall(agent, each, context));
  let longestMs = 0;
  for (const [i, outcome] of running.entries()) {
    const effect = localCalls[i]?.tool.effect;
    const fact = await outcome;
    // A call that was interrupted by a detach stays open, as after a crash: the next process recovers it.
    if (isDetached(context) && (fact.outcome === 'interrupted' || fact.outcome === 'unknown')) continue;
    const overlappedMs = Math.min(longestMs, fact.ms);
    await writer.record([overlappedMs > 0 ? { ...fact, overlappedMs } : fact], { durable: effect !== 'read' });
    longestMs = Math.max(longestMs, fact.ms);
  }
}

/** The facts that record the intent of a call. A client-side call then waits for its result. */
function callStartedFacts({ call, tool, key, input }: ReadyCall): readonly Fact[] {
  const { clientSideQuestion } = tool;
  const rewritten = input === call.input ? {} : { input };
  return [
    { type: 'tool-started', call: call.id, tool: tool.name, key, ...rewritten },
    ...(clientSideQuestion === undefined
      ? []
      : [{ type: 'approval-requested', call: call.id, question: clientSideQuestion, kind: 'client-tool' } as const]),
  ];
}

/** Prepares nothing after an abort: a gate that hangs can neither start a call nor keep the run from ending. */
async function prepareCalls(
  agent: ResolvedAgent,
  calls: readonly ToolCall[],
  { writer, signal }: RunContext,
): Promise<readonly PreparedCall[]> {
  try {
    const work = (): Promise<readonly PreparedCall[]> =>
      Promise.all(calls.map((call) => prepareCall(agent, call, writer.state, signal)));
    return await raceAbort(signal, work);
  } catch (error) {
    if (signal.aborted) return [];
    throw error;
  }
}

const toolEndedFact = (call: ToolCall, outcome: ToolOutcome, text: string, ms = 0): ToolEndedFact => ({
  type: 'tool-ended',
  call: call.id,
  outcome,
  text,
  ms,
});

/** Prepares a call: what the gates noted comes first, then the call, or the fact that says why it does not run. */
async function prepareCall(
  agent: ResolvedAgent,
  call: ToolCall,
  state: RunState,
  signal: AbortSignal,
): Promise<PreparedCall> {
  const notes: Fact[] = [];
  const result = await decideAboutCall(agent, call, state, signal, notes);
  return 'type' in result ? { facts: [...notes, result] } : { facts: notes, call: result };
}

/** Returns the call, ready to run, or the fact that says why it does not run; what the gates noted is added to `notes`. */
async function decideAboutCall(
  agent: ResolvedAgent,
  call: ToolCall,
  state: RunState,
  signal: AbortSignal,
  notes: Fact[],
): Promise<ReadyCall | Fact> {
  if (call.invalid !== undefined)
    return toolEndedFact(
      call,
      'failed',
      `The arguments are not valid JSON, so nothing was run: ${call.invalid.slice(0, 500)}`,
    );
  const unwrapped = unwrapDeferredCall(call);
  if (typeof unwrapped === 'string') return toolEndedFact(call, 'failed', unwrapped);
  const target = withToolName(agent, unwrapped);
  const tool = agent.tools.get(target.tool);
  if (!tool) return toolEndedFact(call, 'failed', `There is no tool named ${target.tool}.`);
  if (tool.deferred && !state.loaded.includes(tool.name))
    return toolEndedFact(call, 'denied', `The tool ${tool.name} is not loaded, so nothing was run. Load it first.`);
  if (target !== call && tool.name === USE_TOOL) return toolEndedFact(call, 'failed', 'This tool cannot call itself.');
  if (call.key !== undefined && tool.effect !== 'read' && !tool.idempotent) {
    const recovered = await resolveUnknownOutcome(agent, { call: target, tool, key: call.key }, state, signal);
    if (recovered) return recovered;
  }
  const inputError = toolInputError(tool, target.input);
  if (inputError !== undefined)
    return toolEndedFact(
      call,
      'failed',
      `The arguments do not fit the schema of ${tool.name}, so nothing was run: ${inputError}`,
    );
  const decision = await evaluateGates(agent, target, state);
  for (const note of decision.annotations ?? []) notes.push({ type: 'annotation-added', ...note, countsForRun: true });
  const by = decision.type !== 'allow' && decision.by;
  if (decision.type === 'ask')
    return {
      type: 'approval-requested',
      call: call.id,
      question: decision.question,
      ...(by ? { by } : {}),
      ...(decision.preview ? { preview: decision.preview } : {}),
    };
  if (decision.type === 'deny')
    return { ...toolEndedFact(call, 'denied', decision.reason), ...(by ? { deniedBy: by } : {}) };
  const rewriteError = decision.input === target.input ? undefined : toolInputError(tool, decision.input);
  if (rewriteError !== undefined)
    return toolEndedFact(
      call,
      'denied',
      `A gate rewrote the call to something that does not fit its schema: ${rewriteError}`,
    );
  return { call: target, tool, input: decision.input, key: call.key ?? idempotencyKey(call, state) };
}

/** The call with its tool alias resolved. */
export function withToolName<C extends Pick<ToolCall, 'tool' | 'input'>>(agent: ResolvedAgent, call: C): C {
  const tool = agent.tools.has(call.tool) ? undefined : agent.resolveToolName?.(call);
  return tool === undefined ? call : { ...call, tool };
}

/** Unique in the session: a call id can repeat on another branch, a seq cannot. */
const idempotencyKey = (call: ToolCall, state: RunState): string => `${state.session}/${call.id}-${state.seq}`;

function toolInputError(tool: Tool, input: Json): string | undefined {
  try {
    return tool.validate?.(input);
  } catch (error) {
    return `they could not be checked: ${errorMessage(error)}`;
  }
}

/** Unwraps a call through `use_tool` to the deferred call inside it. Returns a sentence if there is none. */
export function unwrapDeferredCall<C extends Pick<ToolCall, 'tool' | 'input'>>(call: C): C | string {
  if (call.tool !== USE_TOOL) return call;
  const { tool, input } = isObject(call.input) ? call.input : {};
  if (typeof tool !== 'string') return `Name the loaded tool to use: {"tool": "...", "input": {...}}.`;
  return { ...call, tool, input: (input ?? {}) as Json };
}

async function executeCall(
  agent: ResolvedAgent,
  { call, tool, input, key }: ReadyCall,
  context: RunContext,
): Promise<ToolEndedFact> {
  if (context.signal.aborted)
    return toolEndedFact(call, 'interrupted', `${tool.name} was not started: the run was stopping.`);
  const startedAt = context.clock();
  const abort = createToolAbort(tool, context);
  const progress = createProgressReporter(call, context);
  const { writer } = context;
  const subscribe: ToolContext['subscribe'] = (listener) => writer.subscribe(listener);
  try {
    const work = Promise.resolve().then(() =>
      tool.execute(input, {
        signal: abort.signal,
        key,
        call,
        agent,
        state: writer.state,
        progress: progress.report,
        subscribe,
      }),
    );
    const outcome = await Promise.race([work.then((value) => ({ value })), abort.graceExpired]);
    const ms = context.clock() - startedAt;
    if (!outcome)
      return toolEndedFact(
        call,
        tool.effect === 'read' ? 'interrupted' : 'unknown',
        abandonedCallText(tool, abort.signal),
        ms,
      );
    const maxChars = context.writer.state.limits?.outputChars ?? 100_000;
    const fact = toolResultFact(call.id, outcome.value, maxChars, ms, (output) =>
      renderToolOutput(agent, call, output),
    );
    return tool.untrustedOutput === true ? markUntrusted(fact, writer.state.nonce, agent.spotlight) : fact;
  } catch (error) {
    const outcome = context.signal.aborted ? 'interrupted' : 'failed';
    const text = escapeReminderTags(escapeForProvider(agent, `Error: ${errorMessage(error)}`));
    const fact = toolEndedFact(call, outcome, text, context.clock() - startedAt);
    return tool.untrustedOutput === true ? markUntrusted(fact, writer.state.nonce, agent.spotlight) : fact;
  } finally {
    progress.end();
    abort.release();
  }
}

type ProgressReporter = { readonly report: (text: string) => void; readonly end: () => void };

/** Reports the progress of a call. Progress of a tool that was abandoned is dropped. */
function createProgressReporter(call: ToolCall, context: RunContext): ProgressReporter {
  let onToolProgress = context.onToolProgress;
  const report = (text: string): void => {
    try {
      onToolProgress?.(call.id, text);
    } catch {
      // A listener that throws must not fail the call.
    }
  };
  return { report, end: () => (onToolProgress = undefined) };
}

type ToolAbort = {
  readonly signal: AbortSignal;
  readonly graceExpired: Promise<undefined>;
  readonly release: () => void;
};

/** Stops a tool on the run's abort or on its own timeout. The tool then has half a second to clean up; `graceExpired` resolves after that. */
function createToolAbort(
  tool: Tool,
  { signal: runSignal, timer = systemPort.timer }: Pick<RunContext, 'signal' | 'timer'>,
): ToolAbort {
  const controller = new AbortController();
  const { promise: graceExpired, resolve: expireGrace } = Promise.withResolvers<undefined>();
  const cancels: (() => void)[] = [];
  const abort = (why: unknown): void => {
    controller.abort(why);
    cancels.push(timer(500, () => expireGrace(undefined)));
  };
  const onAbort = (): void => abort(runSignal.reason);
  runSignal.addEventListener('abort', onAbort, { once: true });
  if (tool.timeoutMs !== undefined) {
    const timeoutError = new FairleadError('tool/timeout', `${tool.name} did not end within ${tool.timeoutMs} ms.`, {
      blame: 'tool',
    });
    cancels.push(timer(Math.min(tool.timeoutMs, 2 ** 31 - 1), () => abort(timeoutError)));
  }
  const release = (): void => {
    runSignal.removeEventListener('abort', onAbort);
    for (const cancel of cancels) cancel();
  };
  return { signal: controller.signal, graceExpired, release };
}

const abandonedCallText = (tool: Tool, signal: AbortSignal): string =>
  signal.reason instanceof FairleadError && signal.reason.code === 'tool/timeout'
    ? `${signal.reason.message}${tool.effect === 'read' ? '' : ' Its effect may or may not have happened.'}`
    : `${tool.name} was interrupted.${tool.effect === 'read' ? '' : ' Its effect may or may not have happened.'}`;
