// What changes while a conversation goes on, and how: another model, another folder, another router, with what is private kept where it may be.
import type { ResolvedAgent, OutputSchema } from '../core/index.ts';
import type { Grants } from '../guards/index.ts';
import type { McpServer } from '../tools/mcp/index.ts';
import type { UserPrompter } from './integrations/index.ts';
import type { SessionRouter, OpenedModel, RoutedConversation } from './routing/session-router.ts';
import type { Settings } from './settings/index.ts';
import type { ApprovalTracker } from '../agent/subagents/launch.ts';
import { createApprovalTracker } from './approval-provenance.ts';
import { refreshApprovalQuestions } from './approvals.ts';
import type { ResolvedModel } from './models/resolve-model.ts';
import { openModelOrRouter, type ModelHost } from './models/open-model.ts';
import { closeSession, openSession, type OpenSession } from '../sessions/open-session.ts';
import { createCodingAgent, type CodingAgent } from './create-agent.ts';
import {
  isLocalModel,
  isPrivateSession,
  markPrivate,
  findPrivacyLabel,
  assertLocalModel,
  withPrivacyViews,
} from './privacy.ts';
import type { SessionSelector } from '../sessions/index.ts';

/** The choices of the user for one conversation, such as command line flags; they override the settings. */
export type ConversationFlags = {
  readonly model: string | undefined;
  /** Only models on the user's own machines may read this session. */
  readonly private: boolean;
  readonly stream: boolean;
  readonly autoApprove: boolean;
  readonly sandbox: boolean;
  /** The agent only runs code in a container. */
  readonly codeOnly: boolean;
  readonly limits: { readonly turns?: number; readonly usd?: number };
};

/** What a conversation begins with. */
export type ConversationOptions = {
  readonly settings: Settings;
  readonly flags: ConversationFlags;
  readonly selector: SessionSelector;
  readonly model: ResolvedModel;
  readonly host: ModelHost;
  /** Who is asked about what the folder brings along, and by the model; nobody unless given. */
  readonly prompter?: UserPrompter;
  /** MCP servers that an editor names for this session. */
  readonly mcpServers?: readonly McpServer[];
  /** The working folder; the program's own unless another is named. */
  readonly cwd?: string;
  /** The first words, where they are known before anything is opened. */
  readonly firstPrompt?: string;
  readonly outputSchema?: OutputSchema;
};

/** What changes while it goes on. */
export type ConversationState = {
  autoApprove: boolean;
  stream: boolean;
  model: ResolvedModel;
  /** Who chooses the model for each message; nobody unless the person wants it so. */
  router: SessionRouter | undefined;
  agent: CodingAgent;
  open: OpenSession;
  parts: ResolvedAgent;
  /** Whether this session was private at any time since it was opened here: a step back does not make what was said public. */
  private: boolean;
  readonly approvals: ApprovalTracker;
};

/** Opens the model, the folder's equipment and the session. */
export async function openConversationState(options: ConversationOptions, grants: Grants): Promise<ConversationState> {
  const { settings, flags, model: chosen, host, selector } = options;
  const now: Partial<ConversationState> & Pick<ConversationState, 'autoApprove' | 'stream' | 'private'> = {
    private: false,
    // Code in a container reaches nothing of the person's, so there is nothing to ask about.
    autoApprove: flags.autoApprove || flags.codeOnly || settings.approve === 'auto',
    stream: flags.stream || settings.stream,
  };
  const [model, outfit] = await Promise.all([
    openModelOrRouter(chosen, settings, host),
    createAgentIn(now, options, grants, options.cwd ?? process.cwd()),
  ]);
  const router = 'openFirstModel' in model ? model : undefined;
  const label = findPrivacyLabel(flags, settings, outfit.instructions);
  const opened =
    'openFirstModel' in model
      ? await model.openFirstModel(options.firstPrompt, label)
      : { model: chosen, provider: model };
  const approvals = createApprovalTracker();
  const parts = approvals.withFreshApprovals(withPrivacyViews(resolveForModel(outfit, opened), router));
  const open = await openSession(settings.dirs, selector, parts);
  approvals.watch(open.session);
  await refreshApprovalQuestions(open.session);
  const course: ConversationState = Object.assign(now, {
    agent: outfit,
    parts,
    open,
    approvals,
    router,
    model: opened.model,
  });
  await enforcePrivacy(course, options).catch(async (error: unknown) => {
    await Promise.all([closeSession(open), outfit.close()]);
    throw error;
  });
  return course;
}

/** What an agent in this folder needs. */
function createAgentIn(
  now: Pick<ConversationState, 'autoApprove' | 'private'> & { open?: OpenSession; agent?: CodingAgent },
  options: ConversationOptions,
  grants: Grants,
  cwd: string,
): Promise<CodingAgent> {
  const { flags, settings } = options;
  return createCodingAgent({
    ...options,
    codeOnly: flags.codeOnly,
    sandbox: flags.sandbox,
    cwd,
    autoApprove: () => now.autoApprove,
    grants,
    // What goes on in the background of this folder goes on.
    ...(now.agent?.workspace.cwd === cwd ? { background: now.agent.background } : {}),
    transcriptFile: () => now.open?.sessionFile?.file,
    assertModelAllowed: async (other) => (now.private ? assertLocalModel(other, settings) : undefined),
  });
}

const resolveForModel = (outfit: CodingAgent, { provider, model }: OpenedModel): ResolvedAgent =>
  outfit.forModel(provider, model.tools !== false);

/** Goes on with this model, in this folder. */
export async function switchAgent(
  now: ConversationState,
  outfit: CodingAgent,
  opened: OpenedModel,
  router: SessionRouter | undefined,
): Promise<void> {
  const parts = now.approvals.withFreshApprovals(withPrivacyViews(resolveForModel(outfit, opened), router));
  await now.open.session.setAgent(parts);
  Object.assign(now, { agent: outfit, model: opened.model, parts, router });
}

/** Goes on in another folder; one that is private is not entered with a model that is elsewhere. */
export async function changeWorkingDirectory(
  now: ConversationState,
  options: ConversationOptions,
  grants: Grants,
  cwd: string,
): Promise<void> {
  const { flags, settings } = options;
  const outfit = await createAgentIn(now, options, grants, cwd);
  const { model, parts, router } = now;
  if (!router && findPrivacyLabel(flags, settings, outfit.instructions) !== undefined)
    await assertLocalModel(model, settings).catch(async (error: unknown) => {
      await outfit.close(now.agent);
      throw error;
    });
  await switchAgent(now, outfit, { model: model, provider: parts.provider }, router);
  await enforcePrivacy(now, options);
}

/** Lets a router choose from now on. */
export async function switchToRouter(
  now: ConversationState,
  { settings, host }: ConversationOptions,
  name: string,
): Promise<void> {
  const { createSessionRouter } = await import('./routing/session-router.ts');
  const router = await createSessionRouter(name, settings, host);
  const label = now.private ? earlierLabel : undefined;
  await switchAgent(now, now.agent, await router.openFirstModel(undefined, label), router);
}

/** Writes a label down, and leaves a model elsewhere that may not read what is private. */
export async function enforcePrivacy(now: ConversationState, { flags, settings }: ConversationOptions): Promise<void> {
  const { model, router, agent } = now;
  const { session } = now.open;
  const label = findPrivacyLabel(flags, settings, agent.instructions) ?? (now.private ? earlierLabel : undefined);
  await markPrivate(session, label);
  now.private = isPrivateSession(session);
  if (!now.private || (await isLocalModel(model, settings))) return;
  if (!router) return assertLocalModel(model, settings);
  await switchAgent(now, agent, await router.openFirstModel(undefined, earlierLabel), router);
}

/** Who labelled a session whose label a step back or an edit has left behind. */
const earlierLabel = 'what was said before';

/** The conversation as its router knows it. */
export const toRoutedConversation = (now: ConversationState): RoutedConversation => ({
  session: now.open.session,
  isPrivate: now.private,
  currentModel: now.model.name,
  useModel: async (opened) => {
    if (opened.model.name !== now.model.name) await switchAgent(now, now.agent, opened, now.router);
  },
});
