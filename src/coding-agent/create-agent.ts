// Creates the coding agent of a working directory: its system prompt, tools, integrations, sandbox and gates. Every way to run one goes through here.
import { homedir } from 'node:os';
import { resolveAgent, type Skill, type UserCommand } from '../agent/index.ts';
import { actionClaims } from '../checks/actions/index.ts';
import type { Provider, ResolvedAgent, Tool, ToolCall, Workspace } from '../core/index.ts';
import {
  lazyContainerSandbox,
  createPathPins,
  fileTrust,
  findGrantRules,
  grantKey,
  isReadingMode,
  withRedaction,
  withSandbox,
  type GrantRule,
  type Redactor,
  type ResolvePath,
  type Sandbox,
  sessionGrants,
} from '../guards/index.ts';
import {
  codingTools,
  createBackgroundCommands,
  deferredTools,
  findRipgrepFolders,
  resolveToolAlias,
  sandboxedCommand,
  type BackgroundCommands,
} from '../tools/index.ts';
import type { GitWorkspaces } from '../tools/git/index.ts';
import { localWorkspace, withNetwork } from '../workspace/index.ts';
import { createAgentFlow } from './agent-flow.ts';
import type { CreateCodingAgentOptions } from './create-agent-options.ts';
import type { GrantContext } from './approval-prompts.ts';
import { formatCanary, lazyCanaryGate, readCanary } from './canary.ts';
import { noToolCallsError, throwNoModel } from './errors.ts';
import { lazyDlpGate } from './dlp/with-dlp.ts';
import { createGates, createPolicyContext, readAgentPolicy } from './gates.ts';
import { formatReducedPrompt, getModelScope, selectModelTools } from './small-model.ts';
import { createGitWorkspaces } from './git-workspaces.ts';
import { noUser, type AgentDirectory, type Integration } from './integrations/context.ts';
import { loadIntegrations } from './integrations/load-integrations.ts';
import { resolveAcceptHandler } from './instructions/ask-user.ts';
import { loadProjectTexts, type ProjectInstructions } from './instructions/project-texts.ts';
import { toModelSettings } from './model-settings.ts';
import { createSettingsRedactor } from './settings/index.ts';
import { hashPolicies } from './policy-hashes.ts';
import { findOwnWorktree, getProtectedPaths, getSealedFiles } from './protected-paths.ts';
import { selectSandbox } from './sandbox.ts';
import { createAgentQuarantine } from './quarantine/agent-quarantine.ts';
import { formatSystemPrompt, joinSections } from './system-prompt.ts';
import { openTracer } from './tracing/open-tracer.ts';

export type { CreateCodingAgentOptions } from './create-agent-options.ts';

/** The maximum number of model turns in a run, unless the user sets another: work in a directory takes more turns than an answer. */
export const defaultMaxTurns = 100;

/** Everything that was loaded for a working directory, and the function that resolves an agent for a model. */
export type CodingAgent = {
  /** The workspace without a sandbox, for what the user runs. */
  readonly workspace: Workspace;
  /** The sandbox of the model's commands. */
  readonly sandbox: Sandbox;
  /** Runs git that only reads, inside the sandbox. */
  readonly gitReader: Pick<GitWorkspaces, 'read' | 'isConfined'>;
  /** Removes secrets from what is recorded or sent. */
  readonly redactor: Redactor;
  readonly instructions: ProjectInstructions;
  /** Whether instruction files changed, and the user could not be asked whether they count. */
  readonly hasPendingInstructions: boolean;
  readonly skills: readonly Skill[];
  readonly commands: readonly UserCommand[];
  /** The agent files, and the sub-agents of a session; absent if the agent only runs code. */
  readonly agents?: AgentDirectory;
  /** What was not loaded, one sentence each. */
  readonly problems: readonly string[];
  readonly tools: readonly Tool[];
  /** The key of the grant that an "always" for this call creates. */
  readonly grantKey: (call: Pick<ToolCall, 'tool' | 'input'>) => string;
  /** The broader rules that a grant for this call may have, such as the first words of a command. */
  readonly findGrantRules: (call: Pick<ToolCall, 'tool' | 'input'>) => Promise<readonly GrantRule[]>;
  /** Resolves the agent for a model; a model that cannot call tools gets none. */
  readonly forModel: (provider: Provider, callsTools: boolean) => ResolvedAgent;
  /** Called with each prompt before it is recorded, and with each event; absent if there are no hooks. */
  readonly hooks?: Pick<NonNullable<Integration['hooks']>, 'onPrompt' | 'onEvent'>;
  readonly background: BackgroundCommands;
  /** Ends the background commands: they belong to the session that started them. */
  stopCommands(): Promise<void>;
  /** Ends the servers, programs and commands of the tools, but not commands that the next agent continues. */
  close(next?: Pick<CodingAgent, 'background'>): Promise<void>;
};

/** Loads everything that an agent in this directory needs, for whichever model. */
export async function createCodingAgent(options: CreateCodingAgentOptions): Promise<CodingAgent> {
  const {
    settings,
    cwd,
    autoApprove,
    grants = sessionGrants(),
    codeOnly = false,
    outputSchema,
    clientTools = [],
  } = options;
  const { dirs } = settings;
  const ownWorktree = findOwnWorktree(settings, cwd);
  const access = ownWorktree
    ? (await import('./worktrees/agent-access.ts')).findWorktreeAccess(dirs.state, ownWorktree)
    : undefined;
  // What an agent in a worktree could write there does not instruct or permit it.
  const projectFolder = access?.projectFolder ?? cwd;
  const location = { cwd, home: options.resourceHome ?? homedir(), configDir: dirs.config };
  const pins = createPathPins(
    localWorkspace({
      roots: [cwd],
      cwd,
      blobs: `${dirs.state}/blobs`,
      outputs: `${dirs.state}/outputs`,
      protect: getProtectedPaths(settings, access && ownWorktree),
      denyRead: getSealedFiles(settings),
    }),
  );
  const { workspace } = pins;
  const locate: ResolvePath = (path) => workspace.locate(path);
  const prompter = options.prompter ?? noUser(() => {});
  const redactor = createSettingsRedactor(settings);
  const [texts, sandbox, policy, trace] = await Promise.all([
    loadProjectTexts({
      settings,
      location: { ...location, cwd: projectFolder },
      skillDirs: !codeOnly && options.skills !== false && asList(options.skills),
      accept: resolveAcceptHandler(options.onInstructionsChanged, prompter),
    }),
    selectSandbox(settings, workspace.cwd, options.sandbox),
    readAgentPolicy({ config: dirs.config, cwd: access ? projectFolder : workspace.cwd }, options.policy),
    openTracer(settings, (text) => prompter.notify(text)),
  ]);
  const { instructions, resources } = texts;
  const notify = (text: string): void => prompter.notify(text);
  const permissionMode = options.mode ?? (() => (autoApprove() ? 'auto' : 'ask'));
  const findLinked = (): readonly string[] => access?.readable ?? [];
  const changing = withSandbox(workspace, sandbox, { notify, findReadable: findLinked });
  const reading = withSandbox(workspace, sandbox, { access: 'read', notify, findReadable: findLinked });
  // In a mode without changes a command that the gate took for reading cannot write either.
  const sandboxed: Workspace = {
    ...changing,
    exec: async (command, how) => (isReadingMode(permissionMode()) ? reading : changing).exec(command, how),
  };
  const git = createGitWorkspaces({
    workspace,
    sandbox,
    home: homedir(),
    privateFolder: `${dirs.state}/git`,
    notify,
  });
  const background = options.background ?? createBackgroundCommands(sandboxed);
  let model: Provider | undefined;
  let resolved: ResolvedAgent | undefined;
  // Called while a tool runs, when the names of all tools are known.
  const grantNames: Required<GrantContext['agent']> = {
    grantKey: (call) => grantKey(withToolName(call), locate),
    findGrantRules: (call) => findGrantRules(withToolName(call), createPolicyContext(workspace)),
  };
  const integrations = await loadIntegrations(codeOnly, {
    settings,
    paths: { ...location, cwd: workspace.cwd },
    workspace,
    sandboxedWorkspace: sandboxed,
    sandbox,
    trust: fileTrust(`${dirs.state}/approved.json`),
    redactor,
    prompter,
    approvals: { grants, agent: grantNames },
    model: () => model ?? throwNoModel(),
    autoApprove,
    ...(options.hooks === undefined ? {} : { hookFiles: options.hooks }),
    ...(options.transcriptFile ? { transcriptFile: options.transcriptFile } : {}),
    ...(options.assertModelAllowed ? { assertModelAllowed: options.assertModelAllowed } : {}),
    ...(options.wrapProvider ? { wrapProvider: options.wrapProvider } : {}),
    ...(options.mcpServers ? { mcpServers: options.mcpServers } : {}),
    ...(options.startsServers === undefined ? {} : { startsServers: options.startsServers }),
  });
  const containerSandbox = lazyContainerSandbox(settings.sandbox, [workspace.cwd]);
  const container = withSandbox(workspace, containerSandbox);
  const sandboxes = new Map([
    ...['run_command', 'git_change', 'git_remote'].map((name) => [name, sandbox] as const),
    ['execute_sandboxed_command', containerSandbox],
  ]);
  const containerCommand = sandboxedCommand(container);
  const inContainer = settings.commands === 'container';
  const resolveAlias = (call: Pick<ToolCall, 'tool' | 'input'>): string | undefined =>
    resolveToolAlias(call, inContainer ? containerCommand.name : undefined);
  const ownTools = codeOnly
    ? [containerCommand]
    : [
        ...codingTools(sandboxed, background, {
          runner: withSandbox(workspace, sandbox, { access: 'read', notify, findReadable: findRipgrepFolders }),
          ...(inContainer ? { commandTool: containerCommand } : {}),
        }),
        ...deferredTools({
          workspace: withNetwork(sandboxed, { privateHosts: settings.privateHosts, otherHosts: 'stop' }),
          git,
        }),
        ...(inContainer ? [] : [{ ...containerCommand, deferred: true }]),
      ];
  const quarantine = await createAgentQuarantine(options, { notify, agent: () => resolved });
  const all = [...ownTools, ...resources.skillTools, ...integrations.tools, ...(codeOnly ? [] : [quarantine.tool])];
  const tools = all.map((tool) =>
    quarantine.wrapTool(pins.wrapTool(withRedaction(integrations.wrapTool?.(tool) ?? tool, redactor))),
  );
  const {
    gates: ruleGates = [],
    reminders = [],
    checks = [],
    tools: _tools,
    providers: _providers,
    ...extension
  } = integrations.extension ?? {};
  const toolNames = new Set(tools.map(({ name }) => name));
  const ownInstructions = joinSections([settings.instructions, texts.configSection]);
  const canary = await readCanary(settings.dirs.state);
  const system = joinSections([
    `${formatSystemPrompt(cwd, settings.profile.product, settings.spotlight)}\n${formatCanary(canary)}`,
    ownInstructions,
    redactor.redact(instructions.text),
    redactor.redact(resources.skillSection),
    integrations.system,
  ]);
  const withToolName = <T extends Pick<ToolCall, 'tool' | 'input'>>(call: T): T => ({
    ...call,
    tool: toolNames.has(call.tool) ? call.tool : (resolveAlias(call) ?? call.tool),
  });
  const { hooks } = integrations;
  const isReviewed = options.reviewer !== undefined || settings.all.has('reviewer.model');
  const reviewer = isReviewed && (await import('./flow/agent-reviewer.ts')).createAgentReviewer(options, notify);
  const { ruleHashes = [] } = integrations;
  const policies = await hashPolicies({ settings, cwd: workspace.cwd, policy, rules: ruleHashes });
  return {
    workspace,
    sandbox,
    gitReader: git,
    redactor,
    instructions,
    skills: resources.skills,
    hasPendingInstructions: texts.isPending,
    commands: resources.commands,
    problems: [...(sandbox.takeNotices?.() ?? []), ...texts.problems, ...integrations.problems],
    tools,
    ...grantNames,
    ...(hooks ? { hooks } : {}),
    ...(integrations.agents ? { agents: integrations.agents } : {}),
    stopCommands: () => background.close(),
    background,
    close: async (next) => {
      await Promise.all([integrations.close(), next?.background === background ? undefined : background.close()]);
    },
    forModel(provider, callsTools) {
      if (!callsTools && clientTools.length > 0) throw noToolCallsError(provider);
      model = provider;
      const scope = getModelScope(provider, callsTools);
      const agent = resolveAgent({
        ...extension,
        provider,
        settings: toModelSettings(settings),
        // A model without tools needs no text about them: small models read slowly and forget what comes first.
        system: scope === 'all' ? system : joinSections([formatReducedPrompt(scope, cwd, settings), ownInstructions]),
        ...(scope === 'all' ? { spotlight: settings.spotlight } : {}),
        tools: [...selectModelTools(tools, scope), ...clientTools],
        resolveToolName: resolveAlias,
        reminders: [background.reminder, ...reminders],
        checks: settings.verifiesActions ? [actionClaims(), ...checks] : checks,
        ...(outputSchema ? { outputSchema } : {}),
        ...(trace ? { trace } : {}),
      });
      const own = { settings, tools: agent.tools, cwd: workspace.cwd, permissionMode, isUnattended: prompter.isAbsent };
      const flow = createAgentFlow({ ...own, reviewer });
      return (resolved = {
        ...agent,
        views: [...(agent.views ?? []), ...flow.views, quarantine.view],
        checks: [...agent.checks, ...flow.checks],
        cwd,
        policies,
        // Without approvals the user is not asked about an unknown outcome either: the model is informed.
        get onUnknownOutcome() {
          return autoApprove() ? 'tell' : 'ask';
        },
        gates: createGates({
          pins,
          workspace,
          tools: agent.tools,
          ruleGates: [lazyCanaryGate(canary), ...ruleGates, ...lazyDlpGate(own)],
          flow: flow.gate,
          wrapWithHooks: hooks && ((gate) => hooks.wrapGate(gate)),
          policy,
          grants,
          mode: permissionMode,
          findGitProgram: async () => (await import('../tools/git/index.ts')).findGitProgram(git),
          preview: {
            sandbox,
            redactor,
            ...(integrations.agents ? { describe: integrations.agents.describeStart } : {}),
          },
          sandboxes,
        }),
        ...(hooks && agent.compactor ? { compactor: hooks.wrapCompactor(agent.compactor) } : {}),
      });
    },
  };
}

const asList = (list: boolean | readonly string[] = []): readonly string[] => (list instanceof Object ? list : []);
