// Launches one sub-agent: opens its log with its parent's agent or a narrower one, runs it to its end, and relays progress and messages.
import {
  copyTool,
  deriveSubagent,
  errorMessage,
  readView,
  toJson,
  USE_TOOL,
  type Event,
  type Gate,
  type Limits,
  type Log,
  type Provider,
  type ResolvedAgent,
  type RunState,
  type SubagentCaps,
  type SubagentOverrides,
  type ToolContext,
  type ApprovalHandler,
} from '../../core/index.ts';
import { runWithApprovals } from '../approval-loop.ts';
import { LOAD_TOOLS } from '../define-tool.ts';
import { Session } from '../session.ts';
import { createToolRegistry } from '../tool-registry.ts';
import { selectsTool } from '../../tools/index.ts';
import type { StartableAgent } from './apply-agent-file.ts';
import type { BudgetShare } from './budget-share.ts';
import { formatSubagentEvent } from './format.ts';
import { SUBAGENT_ANNOTATION, type SubagentInfo, type SubagentMetadata } from './metadata.ts';

/** Where the logs of sub-agents are kept. */
export type SubagentStore = {
  /** Opens the log of a sub-agent, or begins it; `session` is the id of its session. */
  open(id: string, parent: string): Promise<{ readonly log: Log; readonly session?: string }>;
  /** The sub-agents of a session that have a log. */
  list(parent: string): Promise<readonly SubagentInfo[]>;
};

/** Tracks the approvals that were given in this process. */
export type ApprovalTracker = {
  /** Starts with a session that was just opened, before any approval is given in it. */
  watch(session: Pick<Session, 'subscribe'>): void;
  /** The same agent, for which an approval counts only if it was given in this process. */
  withFreshApprovals(agent: ResolvedAgent): ResolvedAgent;
};

/** The options of a sub-agent manager. */
export type SubagentManagerOptions = {
  readonly store: SubagentStore;
  /** The agents that can be started by name. */
  readonly agents?: readonly StartableAgent[];
  /** How many may be started, and for how much money; `defaultSubagentCaps` by default. */
  readonly caps?: SubagentCaps;
  /** Decides about the tool calls of a sub-agent that need approval. */
  readonly approvalHandler?: (
    agent: Pick<SubagentInfo, 'id' | 'metadata'> & { readonly session: Session },
  ) => ApprovalHandler;
  /** Opens another model by name. */
  readonly openModel?: (name: string) => Promise<Provider>;
  /** Makes approvals count only if they were given in this process, because another program can have written the log. */
  readonly createApprovalTracker?: () => ApprovalTracker;
  /** Checks the pending questions of a reopened log before the user sees them. */
  readonly onReopen?: (session: Session) => Promise<void>;
  /** Receives each background sub-agent that ends. */
  readonly onEnd?: (agent: SubagentInfo) => void;
};

/** A sub-agent that this process runs, or ran. */
export type RunningSubagent = SubagentInfo & {
  /** The state at its end; never rejects. */
  readonly done: Promise<RunState>;
  readonly budget: BudgetShare;
  /** Calls back with its activity, one line at a time. */
  subscribe(listener: (line: string) => void): () => void;
  /** Sends a message, unless its log has a message with this key. */
  send(message: SubagentMessage): Promise<void>;
  stop(): void;
};

/** A message to a sub-agent with the key of the call that sent it: a repeated call sends nothing twice. */
export type SubagentMessage = { readonly text: string; readonly key: string };

/** The tools that start and manage sub-agents; no sub-agent gets them. */
const subagentToolNames: readonly string[] = ['spawn_agent', 'manage_agents'];

/** What a launch needs besides the metadata of the sub-agent. */
export type LaunchContext = {
  readonly context: ToolContext;
  readonly limits: Partial<Limits>;
  readonly provider: Provider | undefined;
  readonly options: SubagentManagerOptions;
};

/** Opens the log of a sub-agent and runs it: from the start, from where it was interrupted, or not at all if it is done and there is no new message. */
export async function launchSubagent(
  id: string,
  metadata: SubagentMetadata,
  message: SubagentMessage | undefined,
  launch: LaunchContext,
): Promise<RunningSubagent> {
  const { log, session: sessionId } = await launch.options.store.open(id, metadata.parent);
  try {
    const approvals = launch.options.createApprovalTracker?.();
    const agent = await resolveSubagent(metadata, launch);
    const session = await Session.open(approvals?.withFreshApprovals(agent) ?? agent, log, sessionId);
    approvals?.watch(session);
    const { run, ended } = session.state;
    if (run !== undefined) await launch.options.onReopen?.(session);
    const isNew = run === undefined && ended === undefined;
    if (isNew) await recordOrigin(session, metadata, launch.context.state);
    if (message && run !== undefined) await deliverMessage(session, message);
    const task: SubagentMessage | undefined = isNew ? { text: metadata.task, key: metadata.key } : undefined;
    const unread = message && !(await hasMessage(session, message)) ? message : undefined;
    return startSubagent(id, metadata, session, run === undefined ? (unread ?? task) : undefined, launch);
  } catch (error) {
    await log.close();
    throw error;
  }
}

/** Records what the sub-agent was started with, and the states of its parent that it inherits. */
export async function recordOrigin(session: Session, metadata: SubagentMetadata, parent: RunState): Promise<void> {
  await session.annotate(SUBAGENT_ANNOTATION, toJson(metadata));
  for (const view of parent.viewStates.views)
    if (view.isInherited && view.serialize) await session.annotate(view.name, view.serialize(readView(parent, view)));
}

async function deliverMessage(session: Session, message: SubagentMessage): Promise<void> {
  // The user did not write it: the flow policy reads it as text of a third party, and it grants nothing.
  if (!(await hasMessage(session, message))) await session.steer(message.text, { inputId: message.key, by: 'agent' });
}

/** Whether the log has the message with this key. */
async function hasMessage({ log }: Session, { key }: SubagentMessage): Promise<boolean> {
  for await (const events of log.read())
    if (events.some((event) => event.type === 'input-received' && event.input === key)) return true;
  return false;
}

/** Runs the sub-agent on its open session, which is closed at its end. */
function startSubagent(
  id: string,
  metadata: SubagentMetadata,
  session: Session,
  message: SubagentMessage | undefined,
  { limits, options }: LaunchContext,
): RunningSubagent {
  const { run, pending, limits: limitsOfRun } = session.state;
  const stop = new AbortController();
  const listeners = new Set<(line: string) => void>();
  session.subscribe((event: Event, state: RunState) => {
    const line = formatSubagentEvent(event, state);
    if (line !== undefined) for (const listener of listeners) listener(line);
  });
  const onApproval = options.approvalHandler?.({ id, metadata, session });
  const execute = async (): Promise<RunState> => {
    try {
      // A process may have died between writing an input and reading it: pending input starts a run too.
      if (run === undefined && !message && pending.length === 0) return session.state;
      const inputId = message ? { inputId: message.key } : {};
      return await runWithApprovals(session, message?.text, { signal: stop.signal, limits, onApproval, ...inputId });
    } catch (error) {
      return failedState(session.state, error);
    } finally {
      await session.close().catch(() => {});
    }
  };
  return {
    id,
    metadata,
    done: execute(),
    running: true,
    budget: run === undefined ? limits : (limitsOfRun ?? limits),
    get state() {
      return session.state;
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    send: (next) => deliverMessage(session, next),
    stop: () => stop.abort(),
  };
}

/** The state of a run whose log could not be written. */
const failedState = (state: RunState, error: unknown): RunState => ({
  ...state,
  ended: { reason: 'provider-error', detail: errorMessage(error) },
});

/** The parent's agent, narrowed. The parent's gates see no grants: approvals of a sub-agent are in its own log. */
export function deriveSubagentWithoutGrants(
  parent: ResolvedAgent,
  state: RunState,
  overrides: SubagentOverrides,
): ResolvedAgent {
  const agent = deriveSubagent(parent, state, overrides);
  return { ...agent, gates: agent.gates.map(withoutGrants) };
}

const withoutGrants =
  (gate: Gate): Gate =>
  ({ granted: _, ...call }, state) =>
    gate(call, state);

async function resolveSubagent(
  metadata: SubagentMetadata,
  { context: { agent, state }, provider }: LaunchContext,
): Promise<ResolvedAgent> {
  const system = [agent.system, subagentInstructions, metadata.role].filter(Boolean).join('\n\n');
  const child = deriveSubagentWithoutGrants(agent, state, { system, ...(provider ? { provider } : {}) });
  // Reminders report per session: the end of a command reaches only the session that started it.
  const tools = subagentToolset(metadata, agent);
  const gates = metadata.read_only ? [await createReadOnlyGate(tools), ...child.gates] : child.gates;
  return { ...child, tools, gates, reminders: agent.reminders };
}

/** The parent's tools without those for sub-agents, deferred as they are. If tools are named, only those, all of them visible. */
function subagentToolset(
  { tools: asked, file_tools: ofFile, disallowed_tools: disallowed = [] }: SubagentMetadata,
  { tools }: ResolvedAgent,
): ResolvedAgent['tools'] {
  const excluded = [...subagentToolNames, LOAD_TOOLS, USE_TOOL, ...disallowed];
  const isSelected = (patterns: readonly string[] | undefined, name: string): boolean =>
    patterns === undefined || patterns.some((pattern) => selectsTool(pattern, name));
  const available = [...tools.values()].filter(
    ({ name }) =>
      !excluded.some((pattern) => selectsTool(pattern, name)) &&
      (asked === undefined || asked.includes(name)) &&
      isSelected(ofFile, name),
  );
  if (asked === undefined && ofFile === undefined) return createToolRegistry(available);
  return createToolRegistry(available.map((tool) => copyTool(tool, { deferred: false })));
}

/** The gate of an agent whose file says that it changes nothing. */
async function createReadOnlyGate(tools: ResolvedAgent['tools']): Promise<Gate> {
  const { permissionModeGate } = await import('../../guards/index.ts');
  return permissionModeGate(() => 'read-only', tools);
}

const subagentInstructions = `You are an agent that another agent has started for one task. You cannot start agents yourself.
- Do that task and no more. Only your last message is read: it is your whole report.
- If you cannot do it, or are refused something you need, say so and stop.`;
