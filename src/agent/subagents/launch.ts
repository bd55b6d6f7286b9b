// One agent of a crew: opened on its own log with its parent's parts or fewer, run to its end, heard and stopped meanwhile.
import {
  errorMessage,
  toJson,
  USE_TOOL,
  type ResolvedAgent,
  type Event,
  type Limits,
  type Log,
  type Provider,
  type RunState,
  type ToolContext,
} from '../../core/index.ts';
import { LOAD_TOOLS } from '../define-tool.ts';
import { Session } from '../session.ts';
import { createToolRegistry } from '../tool-registry.ts';
import { SUBAGENT_ANNOTATION, formatSubagentEvent, type SubagentMetadata, type SubagentInfo } from './metadata.ts';
import { deriveUngrantedSubagent, runToEnd, type ApprovalHandler } from './run-to-end.ts';
import type { BudgetShare } from './budget-share.ts';

/** Where the logs of agents are kept. */
export type SubagentStore = {
  /** The log of an agent, begun where there is none; `session` is the id that it has or is to have. */
  open(id: string, parent: string): Promise<{ readonly log: Log; readonly session?: string }>;
  /** The agents of a session that are kept. */
  list(parent: string): Promise<readonly SubagentInfo[]>;
};

/** The approvals that were given in this process. */
export type ApprovalTracker = {
  /** Begins anew with a session that was opened just now, before anything is answered in it. */
  watch(session: Pick<Session, 'subscribe'>): void;
  /** The same agent, for which an approval counts only if it was given here. */
  withFreshApprovals(parts: ResolvedAgent): ResolvedAgent;
};

/** What a crew is made from. */
export type SubagentManagerOptions = {
  readonly store: SubagentStore;
  /** Who answers what the gates ask about an agent's calls. */
  readonly approvalHandler?: (agent: Pick<SubagentInfo, 'id' | 'metadata'>) => ApprovalHandler;
  /** Opens another model by its name. */
  readonly openModel?: (name: string) => Promise<Provider>;
  /** Lets an answer count only where it was given in this process: a log can have been written by anybody. */
  readonly createApprovalTracker?: () => ApprovalTracker;
  /** Makes sure of the questions that a log was left with, before anybody is asked them. */
  readonly onReopen?: (session: Session) => Promise<void>;
  /** Hears of agents that end while nobody waits for them. */
  readonly onEnd?: (agent: SubagentInfo) => void;
};

/** An agent that this process runs, or ran. */
export type RunningSubagent = SubagentInfo & {
  /** Its state at its end; never rejects. */
  readonly done: Promise<RunState>;
  readonly budget: BudgetShare;
  /** Calls back with what it does, a line at a time. */
  subscribe(line: (text: string) => void): () => void;
  /** Tells it something, unless it has heard that already. */
  send(said: SubagentMessage): Promise<void>;
  stop(): void;
};

/** Words for an agent, and the key of the call that said them: a call that is made again says nothing twice. */
export type SubagentMessage = { readonly text: string; readonly key: string };

/** The tools through which agents are started and managed: no agent gets them. */
const subagentToolNames: readonly string[] = ['spawn_agent', 'manage_agents'];

/** What an agent is begun with. */
export type LaunchContext = {
  readonly context: ToolContext;
  readonly limits: Partial<Limits>;
  readonly provider: Provider | undefined;
  readonly options: SubagentManagerOptions;
};

/** Opens the agent's log and lets it run: from the start, from where it stood, or not at all where it is done and nothing more is said. */
export async function launchSubagent(
  id: string,
  about: SubagentMetadata,
  said: SubagentMessage | undefined,
  launch: LaunchContext,
): Promise<RunningSubagent> {
  const { log, session: sessionId } = await launch.options.store.open(id, about.parent);
  try {
    const approvals = launch.options.createApprovalTracker?.();
    const parts = resolveSubagent(about, launch);
    const session = await Session.open(approvals?.withFreshApprovals(parts) ?? parts, log, sessionId);
    approvals?.watch(session);
    const { run, ended } = session.state;
    if (run !== undefined) await launch.options.onReopen?.(session);
    const isNew = run === undefined && ended === undefined;
    if (isNew) await session.annotate(SUBAGENT_ANNOTATION, toJson(about));
    if (said && run !== undefined) await deliverMessage(session, said);
    const task: SubagentMessage | undefined = isNew ? { text: about.task, key: about.key } : undefined;
    const fresh = said && !(await hasMessage(session, said)) ? said : undefined;
    return startSubagent(id, about, session, run === undefined ? (fresh ?? task) : undefined, launch);
  } catch (error) {
    await log.close();
    throw error;
  }
}

async function deliverMessage(session: Session, said: SubagentMessage): Promise<void> {
  if (!(await hasMessage(session, said))) await session.steer(said.text, { inputId: said.key });
}

/** Whether these very words stand in its log. */
async function hasMessage({ log }: Session, { key }: SubagentMessage): Promise<boolean> {
  for await (const events of log.read())
    if (events.some((event) => event.type === 'input-received' && event.input === key)) return true;
  return false;
}

/** The agent at work on its open session, which is closed when it ends. */
function startSubagent(
  id: string,
  about: SubagentMetadata,
  session: Session,
  said: SubagentMessage | undefined,
  { limits, options }: LaunchContext,
): RunningSubagent {
  const { run, pending, limits: before } = session.state;
  const stop = new AbortController();
  const ears = new Set<(line: string) => void>();
  session.subscribe((event: Event, state: RunState) => {
    const line = formatSubagentEvent(event, state);
    if (line !== undefined) for (const hear of ears) hear(line);
  });
  const answer = options.approvalHandler?.({ id, metadata: about });
  const work = async (): Promise<RunState> => {
    try {
      // Words may have been written down by a process that did not live to read them.
      if (run === undefined && !said && pending.length === 0) return session.state;
      const input = said ? { input: said.key } : {};
      return await runToEnd(session, said?.text, { signal: stop.signal, limits, answer, ...input });
    } catch (error) {
      return failedState(session.state, error);
    } finally {
      await session.close().catch(() => {});
    }
  };
  return {
    id,
    metadata: about,
    done: work(),
    running: true,
    budget: run === undefined ? limits : (before ?? limits),
    get state() {
      return session.state;
    },
    subscribe(line) {
      ears.add(line);
      return () => ears.delete(line);
    },
    send: (more) => deliverMessage(session, more),
    stop: () => stop.abort(),
  };
}

/** A run whose log could not be written any more: its parent is told so. */
const failedState = (state: RunState, error: unknown): RunState => ({
  ...state,
  ended: { reason: 'provider-error', detail: errorMessage(error) },
});

function resolveSubagent(
  about: SubagentMetadata,
  { context: { agent, state }, provider }: LaunchContext,
): ResolvedAgent {
  const system = [agent.system, subagentInstructions, about.role].filter(Boolean).join('\n\n');
  const parts = deriveUngrantedSubagent(agent, state, { system, ...(provider ? { provider } : {}) });
  // Its parent's say what is so in the session that asks: the end of a command that it began is told to no other.
  return { ...parts, tools: subagentToolset(about, agent), reminders: agent.reminders };
}

/** The parent's tools but those for agents, hidden as they are; of the ones that are named those alone, all in sight. */
function subagentToolset({ tools: names }: SubagentMetadata, { tools }: ResolvedAgent): ResolvedAgent['tools'] {
  const unfit = [...subagentToolNames, LOAD_TOOLS, USE_TOOL];
  const all = [...tools.values()].filter(({ name }) => !unfit.includes(name));
  if (names === undefined) return createToolRegistry(all);
  const kept = all.filter(({ name }) => names.includes(name));
  return createToolRegistry(kept.map((tool) => ({ ...tool, execute: tool.execute.bind(tool), deferred: false })));
}

const subagentInstructions = `You are an agent that another agent has started for one task. You cannot start agents yourself.
- Do that task and no more. Nobody reads what you say on the way: your last message is your whole report.
- If you cannot do it, or are refused something you need, say so and stop.`;
