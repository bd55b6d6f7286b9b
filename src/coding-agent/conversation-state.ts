// The state of a conversation that can change: its model, router, agent and session; the privacy rule that holds for each change; and its status for a status line.
import type { Event, ResolvedAgent, OutputSchema, RetryNotice, RunState } from '../core/index.ts';
import type { Grant, Grants, PermissionMode } from '../guards/index.ts';
import type { McpServer } from '../tools/mcp/index.ts';
import { type SessionSelector, closeSession, openSession, type OpenSession } from '../sessions/index.ts';
import type { ApprovalTracker } from '../agent/subagents/index.ts';
import type { UserPrompter } from './integrations/context.ts';
import type { AcceptInstructions } from './instructions/review.ts';
import type { SessionRouter, OpenedModel, RoutedConversation } from './routing/session-router.ts';
import type { Effort, Settings } from './settings/index.ts';
import { withModelSettings } from '../providers/index.ts';
import { toModelSettings } from './model-settings.ts';
import type { OutputSpeed } from './output-speed.ts';
import { createApprovalTracker, refreshApprovalQuestions } from './approval-prompts.ts';
import { toModelOrigin, type ResolvedModel } from './models/resolve-model.ts';
import { type ModelHost, openModel } from './models/open-model.ts';
import { getCachedBranch } from './cached-branch.ts';
import { createCodingAgent, type CodingAgent } from './create-agent.ts';
import {
  isLocalModel,
  isPrivateSession,
  markPrivate,
  findPrivacyLabel,
  assertLocalModel,
  withPrivacyViews,
} from './private-sessions.ts';
import { recordVerificationDemand } from './verification/verification-demand.ts';

/** The choices of the user for one conversation, such as command line flags; they override the settings. */
export type ConversationFlags = {
  readonly model: string | undefined;
  /** Only models on the user's own machines may read this session. */
  readonly private: boolean;
  /** Whether answers are streamed; absent for the setting. */
  readonly stream?: boolean | undefined;
  /** The reasoning effort; absent for the setting. */
  readonly effort?: Effort | undefined;
  readonly autoApprove: boolean;
  /** The permission mode; that of the settings by default. */
  readonly permissionMode?: PermissionMode | undefined;
  readonly sandbox: boolean;
  /** The agent only runs code in a container. */
  readonly codeOnly: boolean;
  readonly limits: { readonly turns?: number; readonly usd?: number };
  /** Whether answers are verified; also if the setting `verify.answers` says so. */
  readonly verify?: boolean;
};

/** The options of a conversation. */
export type ConversationOptions = {
  readonly settings: Settings;
  readonly flags: ConversationFlags;
  readonly selector: SessionSelector;
  readonly model: ResolvedModel;
  readonly host: ModelHost;
  /** Asks the user about tools, hooks, rules and servers of the project, and for the model; without it nothing is approved. */
  readonly prompter?: UserPrompter;
  /** Decides whether changed instruction files count; by default `prompter` asks. False keeps the earlier texts. */
  readonly onInstructionsChanged?: AcceptInstructions | false;
  /** MCP servers that an editor names for this session. */
  readonly mcpServers?: readonly McpServer[];
  /** The working directory; that of the process by default. */
  readonly cwd?: string;
  /** The first prompt, if it is known before the session is opened; a router chooses the first model by it. */
  readonly firstPrompt?: string;
  readonly outputSchema?: OutputSchema;
  /** Whether a model that has answered becomes the default of later starts; false by default, as for a one-shot run. */
  readonly rememberModel?: boolean;
};

/** What a view of a conversation is informed of. */
export type ConversationListener = {
  /** The view must be redrawn: another session was opened, or the session is now at another event. */
  session(isNew: boolean): void;
  event(event: Event, state: RunState): void;
};

/** The state of a conversation. */
export type ConversationState = {
  mode: PermissionMode;
  stream: boolean;
  effort: Effort | undefined;
  model: ResolvedModel;
  /** The variables that the model was opened with. */
  env: Settings['env'];
  /** Chooses the model for each message; absent unless the user named a router. */
  router: SessionRouter | undefined;
  agent: CodingAgent;
  open: OpenSession;
  parts: ResolvedAgent;
  /** Whether this session was private at any time since it was opened: a rewind does not make earlier messages public. */
  private: boolean;
  readonly approvals: ApprovalTracker;
};

/** Opens the model, the agent of the directory and the session. */
export async function openConversationState(options: ConversationOptions, grants: Grants): Promise<ConversationState> {
  const { settings, flags, model: selected, host, selector } = options;
  const partial: Partial<ConversationState> &
    Pick<ConversationState, 'mode' | 'stream' | 'effort' | 'private' | 'env'> = {
    private: false,
    env: settings.env,
    // Code in a container cannot reach the user's files, so no approval is needed.
    mode: flags.autoApprove || flags.codeOnly ? 'auto' : (flags.permissionMode ?? settings.approve),
    stream: flags.stream ?? settings.stream,
    effort: flags.effort ?? settings.effort,
  };
  const creating = createAgentIn(partial, options, grants, options.cwd ?? process.cwd());
  const [model, agent] = await Promise.all([
    selected.router === undefined ? openModel(selected, settings, host) : createRouter(selected.router, options),
    creating,
  ]).catch(async (error: unknown) => {
    // Programs of the agent must not outlive a model that was not opened.
    await creating.then((created) => created.close()).catch(() => undefined);
    throw error;
  });
  const router = 'openFirstModel' in model ? model : undefined;
  const label = findPrivacyLabel(flags, settings, agent.instructions);
  const opened =
    'openFirstModel' in model
      ? await model.openFirstModel(options.firstPrompt, label)
      : { model: selected, provider: model };
  const approvals = createApprovalTracker();
  const parts = approvals.withFreshApprovals(withPrivacyViews(resolveForModel(agent, opened, partial), router));
  const open = await openSession(settings.dirs, selector, parts);
  approvals.watch(open.session);
  await refreshApprovalQuestions(open.session);
  const state: ConversationState = Object.assign(partial, {
    agent,
    parts,
    open,
    approvals,
    router,
    model: opened.model,
  });
  await recordDemands(state, options).catch(async (error: unknown) => {
    await Promise.all([closeSession(open), agent.close()]);
    throw error;
  });
  return state;
}

/** Creates the agent of a directory for this conversation. */
async function createAgentIn(
  state: Pick<ConversationState, 'mode' | 'private'> & Partial<Pick<ConversationState, 'open' | 'agent' | 'model'>>,
  options: ConversationOptions,
  grants: Grants,
  cwd: string,
): Promise<CodingAgent> {
  const { flags, settings, host } = options;
  const agent = await createCodingAgent({
    ...options,
    codeOnly: flags.codeOnly,
    sandbox: flags.sandbox ? 'auto' : 'none',
    cwd,
    autoApprove: () => state.mode === 'auto',
    mode: () => state.mode,
    grants,
    // The background commands of the same directory continue.
    ...(state.agent?.workspace.cwd === cwd ? { background: state.agent.background } : {}),
    transcriptFile: () => state.open?.sessionFile?.file,
    assertModelAllowed: async (model) => (state.private ? assertLocalModel(model, settings) : undefined),
  });
  const isWanted = flags.verify === true || settings.verifiesAnswers;
  // The log of a new session of a single run demands nothing.
  if (!isWanted && options.selector.type === 'new' && options.rememberModel !== true) return agent;
  const { withVerifyCheck } = await import('./verification/verify-check.ts');
  return withVerifyCheck(agent, { settings, host, isWanted, current: () => state });
}

const resolveForModel = (
  agent: CodingAgent,
  { provider, model }: OpenedModel,
  state: Pick<ConversationState, 'stream' | 'effort' | 'env'>,
): ResolvedAgent => {
  const configured = withModelSettings(provider, () => toModelSettings(state));
  const origin = toModelOrigin(model.ref, provider.model, state.env);
  return { ...agent.forModel(configured, model.tools !== false), ...origin };
};

/** Continues with this agent and model. */
export async function switchAgent(
  state: ConversationState,
  agent: CodingAgent,
  opened: OpenedModel,
  router: SessionRouter | undefined,
): Promise<void> {
  const parts = state.approvals.withFreshApprovals(withPrivacyViews(resolveForModel(agent, opened, state), router));
  await state.open.session.setAgent(parts);
  Object.assign(state, { agent, model: opened.model, parts, router });
}

/** Continues in another directory. Throws if that directory demands privacy and the model is not local. */
export async function changeWorkingDirectory(
  state: ConversationState,
  options: ConversationOptions,
  grants: Grants,
  cwd: string,
): Promise<void> {
  const { flags, settings } = options;
  const agent = await createAgentIn(state, options, grants, cwd);
  const { model, parts, router } = state;
  if (!router && findPrivacyLabel(flags, settings, agent.instructions) !== undefined)
    await assertLocalModel(model, settings).catch(async (error: unknown) => {
      await agent.close(state.agent);
      throw error;
    });
  await switchAgent(state, agent, { model, provider: parts.provider }, router);
  await recordDemands(state, options);
}

/** Lets a router choose the model of each message. */
export async function switchToRouter(
  state: ConversationState,
  options: ConversationOptions,
  name: string,
): Promise<void> {
  const router = await createRouter(name, options);
  const label = state.private ? earlierLabel : undefined;
  await switchAgent(state, state.agent, await router.openFirstModel(undefined, label), router);
}

/** Records what the user demands: before a run whether it is verified, and the privacy label. Switches away from a model that may not read a private session; without a router it throws. */
export async function recordDemands(
  state: ConversationState,
  { flags, settings }: ConversationOptions,
  isBeforeRun = false,
): Promise<void> {
  const { model, router, agent } = state;
  const { session } = state.open;
  if (isBeforeRun) await recordVerificationDemand(session, flags.verify === true || settings.verifiesAnswers);
  const label = findPrivacyLabel(flags, settings, agent.instructions) ?? (state.private ? earlierLabel : undefined);
  await markPrivate(session, label);
  state.private = isPrivateSession(session);
  if (!state.private || (await isLocalModel(model, settings))) return;
  if (!router) return assertLocalModel(model, settings);
  await switchAgent(state, agent, await router.openFirstModel(undefined, earlierLabel), router);
}

/** The source of the label of a session whose label a rewind or an edit has removed from the branch. */
const earlierLabel = 'what was said before';

/** The conversation as the router sees it. */
export const toRoutedConversation = (state: ConversationState): RoutedConversation => ({
  session: state.open.session,
  isPrivate: state.private,
  currentModel: state.model.name,
  useModel: async (opened) => {
    if (opened.model.name !== state.model.name) await switchAgent(state, state.agent, opened, state.router);
  },
});

/** The status of a conversation, as a status line shows it. */
export type ConversationStatus = OutputSpeed & {
  readonly model: string;
  readonly session: string;
  readonly mode: PermissionMode;
  /** What the user allowed from now on. */
  readonly grants?: readonly Grant[];
  readonly stream: boolean;
  /** Tokens of the last request and its response; `window` is absent if the context window of the model is unknown. */
  readonly context?: { readonly used: number; readonly window?: number };
  /** The cost of this session in dollars; absent if any part of it is unknown. */
  readonly usd?: number;
  /** The current activity, shown with a spinner; absent when idle. */
  readonly busy?: string;
  /** The number of inputs of the user that the model has not read yet. */
  readonly queued: number;
  /** The sandbox of commands, or that there is none. */
  readonly sandbox?: string;
  /** The working directory. */
  readonly cwd?: string;
  /** The git branch of the working directory. */
  readonly branch?: string;
  /** The reasoning effort that the user set. */
  readonly effort?: Effort;
  /** A failed request that is sent again, and when, in milliseconds since 1970. */
  readonly retry?: { readonly notice: RetryNotice; readonly at: number };
};

/** Computes the status of a conversation whose session has this name. */
export function getConversationStatus(
  { model, router, mode, stream, effort, parts, agent, open: { session } }: ConversationState,
  name: string,
  { codeOnly }: Pick<ConversationFlags, 'codeOnly'>,
  grants: readonly Grant[],
): ConversationStatus {
  const { context, total, pending } = session.state;
  const { contextWindow } = parts.provider;
  const { cwd } = agent.workspace;
  const branch = getCachedBranch(cwd);
  return {
    model: router ? `${router.name}: ${model.name}` : model.name,
    session: name,
    mode,
    grants,
    stream,
    context: { used: context, ...(contextWindow === undefined ? {} : { window: contextWindow }) },
    ...(total.turnsWithoutPrice === 0 ? { usd: total.usd } : {}),
    queued: pending.filter(({ by }) => by === undefined).length,
    // An agent that only runs code in a container has no sandbox of commands.
    ...(codeOnly ? {} : { sandbox: formatSandbox(agent.sandbox) }),
    cwd,
    ...(branch === undefined ? {} : { branch }),
    ...(effort === undefined ? {} : { effort }),
  };
}

/** The sandbox as the status line shows it. */
function formatSandbox({ name, stoppedReason }: CodingAgent['sandbox']): string {
  if (name === 'none') return 'NO SANDBOX';
  if (stoppedReason?.() !== undefined) return 'COMMANDS STOPPED';
  return name === 'refused' ? 'NO COMMANDS' : name;
}

/** Creates a router; its code is loaded only if the user names one. */
async function createRouter(name: string, { settings, host }: ConversationOptions): Promise<SessionRouter> {
  const { createSessionRouter } = await import('./routing/session-router.ts');
  return createSessionRouter(name, settings, host);
}
