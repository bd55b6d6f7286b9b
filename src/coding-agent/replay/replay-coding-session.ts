// Replays a session of the coding agent, and compares its requests with those that the agent of now would send in the same folder.
import { existsSync } from 'node:fs';
import {
  FairleadError,
  isObject,
  type ApprovalHandler,
  type Event,
  type Provider,
  type ResolvedAgent,
  type Tool,
  type ToolSpec,
} from '../../core/index.ts';
import { isSameFolder, replaySession, type SessionModel, type SessionReplay } from '../../sessions/index.ts';
import { createCodingAgent, defaultMaxTurns } from '../create-agent.ts';
import { noUser, type UserPrompter } from '../integrations/context.ts';
import { openModel, type ModelHost } from '../models/open-model.ts';
import { resolveModelUnattended } from '../models/start-model.ts';
import { assertLocalModel, findPrivacyLabel, privacyView, withPrivacyViews } from '../private-sessions.ts';
import type { Settings } from '../settings/index.ts';

/** The options of a replay of a session of the coding agent. */
export type CodingReplayOptions = {
  readonly settings: Settings;
  /** The current directory: live tools run only if it is the folder of the session. */
  readonly cwd: string;
  /** The turn from which a live model answers. */
  readonly from?: number | undefined;
  /** The live model; that of the session by default. */
  readonly model?: string | undefined;
  /** The model that the session file names. */
  readonly sessionModel?: SessionModel | undefined;
  /** Whether calls without a recorded result are run, after the gates. */
  readonly runsTools?: boolean;
  /** The session is that of a sub-agent, whose instructions and tools its parent decided: it is compared with its recording only. */
  readonly isSubagent?: boolean;
  readonly host: ModelHost;
  /** Decides about calls of live tools; without it such a call stops the replay. */
  readonly onApproval?: ApprovalHandler;
  readonly signal?: AbortSignal;
};

/** Replays a session. Without `from` nothing is started, sent or changed. */
export async function replayCodingSession(
  events: readonly Event[],
  options: CodingReplayOptions,
): Promise<SessionReplay> {
  const epoch = events.findLast((event) => event.type === 'epoch-started');
  const { from, runsTools = false } = options;
  if (runsTools && from === undefined)
    throw new FairleadError('replay/no-turn', 'Live tools need the turn from which they run.', {
      blame: 'user',
      hint: 'Add --from <turn>.',
    });
  const folder = options.isSubagent ? undefined : epoch?.cwd;
  if (runsTools) assertFolder(folder, options.cwd);
  if (folder === undefined || !epoch || !existsSync(folder)) {
    const live = from === undefined ? undefined : { provider: await openLiveModel(events, undefined, options) };
    return replaySession(events, { from, live });
  }
  const opened = await createCodingAgent({
    settings: options.settings,
    cwd: folder,
    autoApprove: () => false,
    // An approval that the settings give in advance is for the user's own prompts, not for a replay.
    mode: () => (isRestricted(options.settings.approve) ? options.settings.approve : 'ask'),
    prompter: createRecordedPrompter(epoch.tools, runsTools ? (text) => options.host.notify(text) : () => {}),
    onInstructionsChanged: false,
    hooks: runsTools,
    startsServers: runsTools,
    ...(runsTools || hadSandbox(epoch.tools) ? {} : { sandbox: 'none' }),
  });
  try {
    if (from === undefined) {
      const agent = opened.forModel(createStandIn(epoch), epoch.tools.length > 0);
      return await replaySession(events, { agent: withServerTools(agent, epoch.tools) });
    }
    const provider = await openLiveModel(events, opened.instructions, options);
    const agent: ResolvedAgent = {
      ...withPrivacyViews(opened.forModel(provider, epoch.tools.length > 0), undefined),
      limits: { turns: defaultMaxTurns, ...options.settings.limits },
    };
    const live = {
      provider,
      agent: runsTools ? agent : withServerTools(agent, epoch.tools),
      runsTools,
      ...(options.onApproval ? { onApproval: options.onApproval } : {}),
      ...(options.signal ? { signal: options.signal } : {}),
    };
    return await replaySession(events, { from, agent: live.agent, live });
  } finally {
    await opened.close();
  }
}

/** Whether commands ran in a sandbox then, which their description depends on; a flag of the start decided it. */
function hadSandbox(tools: readonly ToolSpec[]): boolean {
  const command = tools.find(({ name }) => name === 'run_command');
  const properties = command?.input['properties'];
  return !command || (isObject(properties) && 'write_git' in properties);
}

const isRestricted = (mode: Settings['approve']): boolean => mode === 'read-only' || mode === 'plan';

function assertFolder(folder: string | undefined, cwd: string): void {
  if (folder !== undefined && isSameFolder(folder, cwd)) return;
  throw new FairleadError('replay/other-folder', `Live tools run only in the folder of the session.`, {
    blame: 'user',
    hint: folder === undefined ? 'It names no folder, or is that of a sub-agent.' : `Start the command in ${folder}.`,
  });
}

/** Opens the live model. A private session is sent to a model on the user's own machines only. */
async function openLiveModel(
  events: readonly Event[],
  instructions: { readonly text: string } | undefined,
  { settings, model: named, sessionModel, host }: CodingReplayOptions,
): Promise<Provider> {
  const model = await resolveModelUnattended({ model: named, ofSession: sessionModel }, settings);
  if (model.router !== undefined)
    throw new FairleadError('replay/router', `A replay needs a model, not the router ${model.name}.`, {
      blame: 'user',
      hint: 'Name one with --model.',
    });
  const isPrivate = events.reduce((labelled, event) => privacyView.on(labelled, event), privacyView.initial);
  if (isPrivate || findPrivacyLabel({ private: false }, settings, instructions ?? { text: '' }) !== undefined)
    await assertLocalModel(model, settings);
  return openModel(model, settings, host);
}

type Epoch = Event & { readonly type: 'epoch-started' };

/** A provider that only has the properties of the recorded model on which the instructions and tools depend. */
function createStandIn({ model, modelProvider, tools }: Epoch): Provider {
  const isEmbedded = modelProvider === 'embedded';
  const hasWindow = tools.some(({ name }) => name === 'edit_file');
  return {
    family: isEmbedded ? 'embedded' : 'replay',
    model,
    ...(isEmbedded && hasWindow ? { contextWindow: 1 } : {}),
    // oxlint-disable-next-line require-yield -- it never answers
    async *stream() {
      throw new FairleadError('replay/no-model', 'This replay has no model.', { blame: 'user' });
    },
  };
}

/** A user who was present then has tools and rules of an attended session; each answer now is no. */
function createRecordedPrompter(tools: readonly ToolSpec[], notify: (text: string) => void): UserPrompter {
  const absent = noUser(notify);
  if (!tools.some(({ description, name }) => name === 'ask_user' || description.includes('\nask_user: ')))
    return absent;
  const { isAbsent: _, ...present } = absent;
  return { ...present, askText: async () => undefined };
}

/** Tools of MCP servers are as recorded: comparing them would start the servers. */
function withServerTools(agent: ResolvedAgent, recorded: readonly ToolSpec[]): ResolvedAgent {
  const kept = recorded.filter(
    ({ name, description }) => name.startsWith('mcp__') || (name === 'load_tools' && description.includes('\n[mcp__')),
  );
  if (kept.length === 0) return agent;
  const own = new Map(kept.map((spec) => [spec.name, spec]));
  const tools = new Map<string, Tool>();
  for (const spec of recorded) {
    const tool = agent.tools.get(spec.name);
    if (own.has(spec.name)) tools.set(spec.name, { ...(tool ?? unavailableTool), ...spec });
    else if (tool) tools.set(spec.name, tool);
  }
  for (const [name, tool] of agent.tools) if (!tools.has(name)) tools.set(name, tool);
  return { ...agent, tools };
}

const unavailableTool: Pick<Tool, 'effect' | 'execute'> = {
  effect: 'external',
  execute() {
    throw new FairleadError('replay/no-server', 'The server of this tool is not started.', { blame: 'user' });
  },
};
