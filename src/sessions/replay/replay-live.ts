// Continues with a live model from a turn of a recorded session, with recorded tool results or with live tools.
import { runWithApprovals, Session, type UserInput } from '../../agent/index.ts';
import {
  createRecordedResults,
  noRecordedResult,
  withRecordedDecisions,
  withRecordedResults,
  withRecordedTools,
} from '../../agent/recording/index.ts';
import {
  FairleadError,
  pendingApprovals,
  runStateView,
  truncateMiddle,
  canonicalJson,
  type ApprovalHandler,
  type Event,
  type Provider,
  type ResolvedAgent,
  type RunState,
  type Tool,
  type ToolCall,
} from '../../core/index.ts';
import { memoryLog } from '../../stores/index.ts';
import { createRecordedTools } from './recorded-agent.ts';
import { createRecording, type Recording } from './recording.ts';

/** How a replay continues from a turn. */
export type LiveOptions = {
  /** The model that answers from the turn on. */
  readonly provider: Provider;
  /** The agent whose instructions, rules, tools and gates are used; without it those of the recording, and no rules. */
  readonly agent?: ResolvedAgent | undefined;
  /** Whether calls without a recorded result are run by the tools of `agent`, after its gates; otherwise the replay stops there. */
  readonly runsTools?: boolean;
  /** Decides about calls of live tools that need approval; without it the replay stops there. */
  readonly onApproval?: ApprovalHandler;
  readonly signal?: AbortSignal;
};

/** What happened from the turn on. */
export type LiveReplay = {
  readonly events: readonly Event[];
  /** The cost of the live turns in US dollars. */
  readonly usd: number;
  /** Why the replay stopped before the end. */
  readonly stopped?: string;
};

/** Runs the session again after `prefix`, the events before the turn. Later prompts of the user are sent as recorded. */
export async function replayLive(
  path: readonly Event[],
  from: number,
  prefix: readonly Event[],
  options: LiveOptions,
): Promise<LiveReplay> {
  const recording = createRecording(path);
  const log = memoryLog(prefix);
  const results = createRecordedResults(path, from);
  const stop = new AbortController();
  let stopped: string | undefined;
  const onUnrecorded = (call: ToolCall): 'run' | 'stop' => {
    if (options.runsTools && options.agent) return 'run';
    stopped ??= `The model called ${call.tool} with ${truncateMiddle(canonicalJson(call.input), 300)}, and the recording has no result of this call.`;
    stop.abort(new FairleadError('run/left', stopped, { blame: 'user' }));
    return 'stop';
  };
  const before = foldEvents(prefix);
  const called = listCalledTools(recording);
  const base: ResolvedAgent = options.agent
    ? { ...options.agent, provider: options.provider, tools: addTools(options.agent.tools, called) }
    : createAgentOfRecording(called, before, options.provider);
  const agent = withRecordedDecisions(
    withRecordedTools(base, results, () => 'run'),
    results,
    onUnrecorded,
  );
  const session = await Session.open(agent, withRecordedResults(log, results));
  try {
    const signal = options.signal ? AbortSignal.any([options.signal, stop.signal]) : stop.signal;
    const run = (input: UserInput | undefined): Promise<RunState> =>
      runWithApprovals(session, input, { onApproval: options.onApproval, signal });
    for (const [i, { input, added }] of listRuns(path.slice(prefix.length)).entries()) {
      for (const parts of added) await session.followUp(parts);
      const state = await run(i === 0 ? undefined : input);
      const [waiting] = pendingApprovals(state);
      if (state.run !== undefined && waiting)
        stopped ??= `A call of ${waiting.tool} waits for approval, and the replay cannot ask: ${waiting.question}`;
      if (state.run !== undefined || signal.aborted) break;
    }
    const usd = session.state.total.usd - before.total.usd;
    return { events: log.events.slice(prefix.length), usd, ...(stopped === undefined ? {} : { stopped }) };
  } finally {
    await session.close();
  }
}

function foldEvents(events: readonly Event[]): RunState {
  const view = runStateView();
  return events.reduce((state, event) => view.on(state, event), view.initial);
}

type RecordedRun = { readonly input?: UserInput; readonly added: UserInput[] };

/** The runs from the turn on: the prompt of each, and what the user added to it, which the model then reads after its answer. */
function listRuns(tail: readonly Event[]): readonly RecordedRun[] {
  const runs: RecordedRun[] = [{ added: [] }];
  for (const event of tail) {
    if (event.type !== 'input-received' || event.by !== undefined) continue;
    if (event.how === 'prompt') runs.push({ input: event.parts, added: [] });
    else if (event.how === 'continue') runs.push({ added: [] });
    else runs.at(-1)?.added.push(event.parts);
  }
  return runs;
}

/** The tools that were called, hidden from the model: a tool that the agent lacks still has its recorded results. */
const listCalledTools = (recording: Recording): ReadonlyMap<string, Tool> =>
  new Map(
    [...createRecordedTools(recording, { peek: () => undefined, peekCall: () => undefined })].map(
      ([name, { clientSideQuestion: _, ...tool }]) => [name, { ...tool, visible: false, execute: noRecordedResult }],
    ),
  );

/** Adds tools after those of the agent, whose order is part of the request. */
const addTools = (own: ReadonlyMap<string, Tool>, added: ReadonlyMap<string, Tool>): ReadonlyMap<string, Tool> =>
  new Map([...own, ...[...added].filter(([name]) => !own.has(name))]);

/** The agent that the recording describes: its instructions and tools. The tools have recorded results only. */
function createAgentOfRecording(called: ReadonlyMap<string, Tool>, state: RunState, provider: Provider): ResolvedAgent {
  const shown = state.tools.map((spec): [string, Tool] => {
    const effect = called.get(spec.name)?.effect ?? 'external';
    return [spec.name, { ...spec, effect, execute: noRecordedResult }];
  });
  return {
    system: state.system,
    provider,
    tools: addTools(new Map(shown), called),
    rules: [],
    reminders: [],
    gates: [],
    stops: [],
    checks: [],
    settings: {},
    ...(state.cwd === undefined ? {} : { cwd: state.cwd }),
  };
}
