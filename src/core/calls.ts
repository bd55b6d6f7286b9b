// Tool calls: decided by the gate, written down before they act, answered once each in call order.
import { isLeft, unlessAborted } from './abort.ts';
import { FairleadError, messageOf } from './errors.ts';
import type { Fact, Outcome } from './fact.ts';
import { decide } from './gate.ts';
import { isObject, type Json } from './json.ts';
import type { RunContext } from './loop.ts';
import { resultOf, type Ended } from './output.ts';
import type { AgentParts, Tool, ToolContext } from './ports.ts';
import { renderedBy } from './renderers.ts';
import type { Call, RunState } from './state.ts';
import { clearUp } from './unsure.ts';

/** The tool through which a loaded tool is called: the list of tools that a model sees never changes, and neither does the cached prefix. */
export const USE_TOOL = 'use_tool';

type Ready = { readonly call: Call; readonly tool: Tool; readonly input: Json; readonly key: string };

/** Makes these calls side by side. The intent of each is settled before its effect; the results are written in call order. */
export async function makeCalls(agent: AgentParts, calls: readonly Call[], context: RunContext): Promise<void> {
  const { head } = context;
  const prepared = await prepareAll(agent, calls, context);
  const ready = prepared.filter((each): each is Ready => !('type' in each));
  const started = prepared.flatMap((each) => ('type' in each ? [each] : begunAs(each)));
  await head.record(started, { settle: ready.some(({ tool }) => tool.effect !== 'read') });
  const here = ready.filter(({ tool }) => tool.elsewhere === undefined);
  const running = here.map((each) => act(agent, each, context));
  let longest = 0;
  for (const [i, outcome] of running.entries()) {
    const effect = here[i]?.tool.effect;
    const fact = await outcome;
    // What was cut off when the run was left stays open, as after a crash: the next to work on it finds out.
    if (isLeft(context) && (fact.outcome === 'interrupted' || fact.outcome === 'unknown')) continue;
    const beside = Math.min(longest, fact.ms);
    await head.record([beside > 0 ? { ...fact, overlappedMs: beside } : fact], { settle: effect !== 'read' });
    longest = Math.max(longest, fact.ms);
  }
}

/** The intent of a call; one that is made elsewhere waits from then on. */
function begunAs({ call, tool, key, input }: Ready): readonly Fact[] {
  const { elsewhere } = tool;
  const rewritten = input === call.input ? {} : { input };
  return [
    { type: 'tool-started', call: call.id, tool: tool.name, key, ...rewritten },
    ...(elsewhere === undefined
      ? []
      : [{ type: 'approval-requested', call: call.id, question: elsewhere, kind: 'client-tool' } as const]),
  ];
}

/** Nothing is prepared that an abort came before: not even a gate that hangs can then start a call, or keep a run from ending. */
async function prepareAll(
  agent: AgentParts,
  calls: readonly Call[],
  { head, signal }: RunContext,
): Promise<readonly (Ready | Fact)[]> {
  try {
    const work = (): Promise<readonly (Ready | Fact)[]> =>
      Promise.all(calls.map((call) => prepare(agent, call, head.state, signal)));
    return await unlessAborted(signal, work);
  } catch (error) {
    if (signal.aborted) return [];
    throw error;
  }
}

const ended = (call: Call, outcome: Outcome, text: string, ms = 0): Ended => ({
  type: 'tool-ended',
  call: call.id,
  outcome,
  text,
  ms,
});

/** What stands in the way of a call, as the fact that says so; or the call, ready to act. */
async function prepare(agent: AgentParts, call: Call, state: RunState, signal: AbortSignal): Promise<Ready | Fact> {
  if (call.invalid !== undefined)
    return ended(call, 'failed', `The arguments are not valid JSON, so nothing was run: ${call.invalid.slice(0, 500)}`);
  const said = aimOf(call);
  if (typeof said === 'string') return ended(call, 'failed', said);
  const aim = renamed(agent, said);
  const tool = agent.tools.get(aim.tool);
  if (!tool) return ended(call, 'failed', `There is no tool named ${aim.tool}.`);
  if (tool.hidden && !state.loaded.includes(tool.name))
    return ended(call, 'denied', `The tool ${tool.name} is not loaded, so nothing was run. Load it first.`);
  if (aim !== call && tool.name === USE_TOOL) return ended(call, 'failed', 'This tool cannot call itself.');
  if (call.key !== undefined && tool.effect !== 'read' && !tool.idempotent) {
    const settled = await clearUp(agent, { call: aim, tool, key: call.key }, state, signal);
    if (settled) return settled;
  }
  const wrong = unfit(tool, aim.input);
  if (wrong !== undefined)
    return ended(call, 'failed', `The arguments do not fit the schema of ${tool.name}, so nothing was run: ${wrong}`);
  const ruling = await decide(agent, aim, state);
  const by = ruling.type !== 'allow' && ruling.by;
  if (ruling.type === 'ask')
    return { type: 'approval-requested', call: call.id, question: ruling.question, ...(by ? { by } : {}) };
  if (ruling.type === 'deny') return { ...ended(call, 'denied', ruling.reason), ...(by ? { deniedBy: by } : {}) };
  const rewrong = ruling.input === aim.input ? undefined : unfit(tool, ruling.input);
  if (rewrong !== undefined)
    return ended(call, 'denied', `A rule rewrote the call to something that does not fit its schema: ${rewrong}`);
  return { call: aim, tool, input: ruling.input, key: call.key ?? keyFor(call, state) };
}

/** The call under the name that its tool has. */
function renamed(agent: AgentParts, call: Call): Call {
  const tool = agent.tools.has(call.tool) ? undefined : agent.alias?.(call);
  return tool === undefined ? call : { ...call, tool };
}

/** Unique in the session: the id alone comes again on another branch, the seq never does. */
const keyFor = (call: Call, state: RunState): string => `${state.session}/${call.id}-${state.seq}`;

function unfit(tool: Tool, input: Json): string | undefined {
  try {
    return tool.check?.(input);
  } catch (error) {
    return `they could not be checked: ${messageOf(error)}`;
  }
}

/** The call that is meant: of one through the tool for loaded tools the call inside it, or why there is none. */
export function aimOf<C extends Pick<Call, 'tool' | 'input'>>(call: C): C | string {
  if (call.tool !== USE_TOOL) return call;
  const { tool, input } = isObject(call.input) ? call.input : {};
  if (typeof tool !== 'string') return `Name the loaded tool to use: {"tool": "...", "input": {...}}.`;
  return { ...call, tool, input: (input ?? {}) as Json };
}

async function act(agent: AgentParts, { call, tool, input, key }: Ready, context: RunContext): Promise<Ended> {
  if (context.signal.aborted) return ended(call, 'interrupted', `${tool.name} was not started: the run was to stop.`);
  const since = context.clock();
  const stop = stopFor(tool, context.signal);
  const progress = progressOf(call, context);
  const { head } = context;
  const watch: ToolContext['watch'] = (seen) => head.watch(seen);
  try {
    const work = Promise.resolve().then(() =>
      tool.run(input, { signal: stop.signal, key, call, agent, state: head.state, progress: progress.say, watch }),
    );
    const outcome = await Promise.race([work.then((value) => ({ value })), stop.over]);
    const ms = context.clock() - since;
    if (!outcome) return ended(call, tool.effect === 'read' ? 'interrupted' : 'unknown', giveUp(tool, stop.signal), ms);
    const most = context.head.state.limits?.outputChars ?? 100_000;
    return resultOf(call.id, outcome.value, most, ms, (given) => renderedBy(agent, call, given));
  } catch (error) {
    const outcome = context.signal.aborted ? 'interrupted' : 'failed';
    return ended(call, outcome, `Error: ${messageOf(error)}`, context.clock() - since);
  } finally {
    progress.end();
    stop.release();
  }
}

type Progress = { readonly say: (text: string) => void; readonly end: () => void };

/** How a call tells onlookers what it does. A tool that was given up may still be talking: nobody hears it. */
function progressOf(call: Call, context: RunContext): Progress {
  let show = context.progress;
  const say = (text: string): void => {
    try {
      show?.(call.id, text);
    } catch {
      // An onlooker that fails must not fail the call.
    }
  };
  return { say, end: () => (show = undefined) };
}

type ToolStop = { readonly signal: AbortSignal; readonly over: Promise<undefined>; readonly release: () => void };

/** How a tool is stopped: by the run's signal or by its own time. Then it has half a second to end in order, and `over` says when that is past. */
function stopFor(tool: Tool, outer: AbortSignal): ToolStop {
  const stop = new AbortController();
  const { promise: over, resolve } = Promise.withResolvers<undefined>();
  const timers = new Set<ReturnType<typeof setTimeout>>();
  const end = (why: unknown): void => {
    stop.abort(why);
    timers.add(setTimeout(() => resolve(undefined), 500));
  };
  const quit = (): void => end(outer.reason);
  outer.addEventListener('abort', quit, { once: true });
  if (tool.timeoutMs !== undefined) {
    const late = new FairleadError('tool/timeout', `${tool.name} did not end within ${tool.timeoutMs} ms.`, {
      blame: 'tool',
    });
    timers.add(setTimeout(() => end(late), Math.min(tool.timeoutMs, 2 ** 31 - 1)));
  }
  const release = (): void => {
    outer.removeEventListener('abort', quit);
    for (const timer of timers) clearTimeout(timer);
  };
  return { signal: stop.signal, over, release };
}

const giveUp = (tool: Tool, signal: AbortSignal): string =>
  signal.reason instanceof FairleadError && signal.reason.code === 'tool/timeout'
    ? `${signal.reason.message}${tool.effect === 'read' ? '' : ' Its effect may or may not have happened.'}`
    : `${tool.name} was interrupted.${tool.effect === 'read' ? '' : ' Its effect may or may not have happened.'}`;
