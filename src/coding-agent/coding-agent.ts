// The function codingAgent: the assembled agent of the terminal (tools, sandbox, policy, hooks, skills, MCP, sub-agents) as a library agent.
import path from 'node:path';
import { Agent, type ApprovalHandler, type ResolvedAgentSource } from '../agent/index.ts';
import {
  FairleadError,
  runExitTasks,
  type JsonObject,
  type Limits,
  type Provider,
  type ResolvedAgent,
} from '../core/index.ts';
import type { PermissionMode, SandboxMode } from '../guards/index.ts';
import { gateway, parseModelRef } from '../providers/index.ts';
import { parseMcpConfig, type McpServer } from '../tools/mcp/index.ts';
import { withDlp } from './dlp/with-dlp.ts';
import { createCodingAgent, defaultMaxTurns, type CodingAgent } from './create-agent.ts';
import { noUser } from './integrations/context.ts';
import type { AcceptInstructions } from './instructions/review.ts';
import { openModel, type ModelHost } from './models/open-model.ts';
import { lookUpModel, type ResolvedModel } from './models/resolve-model.ts';
import { resolveModelUnattended } from './models/start-model.ts';
import { openKeptGrants } from './conversation-grants.ts';
import { assertLocalModel, findPrivacyLabel, withPrivacyViews } from './private-sessions.ts';
import { readSettings, type Settings } from './settings/index.ts';

/** The options of `codingAgent`. What is not set is as in the user's settings, as in the terminal. */
export type CodingAgentOptions = {
  /** The directory that the agent works in, and the only one that it may change; the current directory by default. */
  readonly cwd?: string;
  /** A model by name, such as `ollama/qwen3:8b`; a list of fallbacks; or a provider. By default the model of the settings. */
  readonly model?: string | readonly string[] | Provider;
  /** The sandbox of commands. `auto` is the best one that works; if none works, every command is refused. */
  readonly sandbox?: SandboxMode;
  /** A policy in addition to the policy files: the path of a file, or its contents. */
  readonly policy?: string | JsonObject;
  /** MCP servers by name, as in `mcp.json`, in addition to those of the user's file. */
  readonly mcp?: { readonly servers: Readonly<Record<string, JsonObject>> };
  /** False ignores all hooks; a list names hook files in addition to the user's. */
  readonly hooks?: boolean | readonly string[];
  /** False ignores all skills; a list names directories of skills in addition to the user's and the project's. */
  readonly skills?: boolean | readonly string[];
  /**
   * What happens to a call that needs approval: `ask` leaves it pending, so that the run ends with the status `waiting`;
   * `accept-edits` makes edits in `cwd` without approval; `auto` makes all changes without approval; `read-only` and `plan` deny changes; a function decides. A deny of the policy, a rule or a hook is never overridden.
   */
  readonly approve?: PermissionMode | ApprovalHandler;
  /** False ignores `permissions.yaml` in the config directory, which holds what the user allowed in `cwd` with "in this project". */
  readonly permissions?: boolean;
  /**
   * Decides whether changed instruction files of the project count: AGENTS.md, commands, skills. Without it the texts that counted before
   * are used, and a warning names each file. The first version in a directory counts.
   */
  readonly onInstructionsChanged?: AcceptInstructions;
  /** Added to the system prompt, after the instructions of the settings. */
  readonly instructions?: string;
  /** The limits of each run; by default 100 turns and the limits of the settings. */
  readonly limits?: Partial<Limits>;
  /** The model that reviews calls which the flow policy would ask about, if `approve` is `auto`: a name or a provider. By default that of the settings; without one such calls are denied. */
  readonly reviewer?: string | Provider;
  /** Values that are private, by the names that placeholders show: models that are not local see tokens, and sending them needs an approval. They count for all agents of this process. */
  readonly privateValues?: Readonly<Record<string, string>>;
  /** Settings that were read before; otherwise they are read for `cwd`. */
  readonly settings?: Settings;
  /** The directory for state, session data and caches. */
  readonly stateDir?: string;
  /** The directory of the user's config files: `config.json`, `mcp.json`, `policy.yaml`, `hooks.json`, skills and rules. */
  readonly configDir?: string;
  /** Called with each warning, such as a file that could not be used. */
  readonly onWarning?: (text: string) => void;
};

/**
 * Creates the agent that the terminal uses, for a program: workspace, sandbox, policy, redaction, AGENTS.md, skills, hooks, MCP and language
 * servers, sub-agents and the default rules. Hooks, tools, rules and MCP servers of a project are used only if the user approved them.
 * Close the agent after use: it ends the servers and background commands that it started.
 */
export async function codingAgent(options: CodingAgentOptions = {}): Promise<Agent> {
  const { onWarning = () => {} } = options;
  const cwd = path.resolve(options.cwd ?? process.cwd());
  const settings = withInstructions(options.settings ?? readSettings(getSources(options, cwd)), options.instructions);
  for (const warning of settings.warnings) onWarning(warning);
  if (options.privateValues) {
    const { markPrivateValue } = await import('./dlp/index.ts');
    for (const [name, value] of Object.entries(options.privateValues))
      if (!markPrivateValue(name, value))
        onWarning(`The private value "${name}" is too short or too long to be found.`);
  }
  let opened: CodingAgent | undefined;
  const source: ResolvedAgentSource = {
    name: 'coding-agent',
    async resolve() {
      const { approve = settings.approve } = options;
      const mode = typeof approve === 'function' ? 'ask' : approve;
      const agent = await createCodingAgent({
        settings,
        cwd,
        grants: await openKeptGrants(settings, cwd, options.permissions !== false, onWarning),
        autoApprove: () => mode === 'auto',
        mode: () => mode,
        prompter: noUser(onWarning),
        mcpServers: parseServers(options, cwd, onWarning),
        ...(options.sandbox ? { sandbox: options.sandbox } : {}),
        ...(options.reviewer === undefined ? {} : { reviewer: options.reviewer }),
        ...(options.policy === undefined ? {} : { policy: options.policy }),
        ...(options.hooks === undefined ? {} : { hooks: options.hooks }),
        ...(options.skills === undefined ? {} : { skills: options.skills }),
        onInstructionsChanged: options.onInstructionsChanged ?? false,
        assertModelAllowed: async (model) => assertPrivacy(agent, [model], settings),
      });
      opened = agent;
      try {
        for (const problem of agent.problems) onWarning(problem);
        return await resolveForModel(agent, options, settings, onWarning);
      } catch (error) {
        await agent.close();
        throw error;
      }
    },
    close: async () => {
      await opened?.close();
      await runExitTasks();
    },
  };
  const agent = Agent.fromResolved(source);
  // Resolved now, so that a wrong option is an error here and not in the first run.
  await agent.resolve();
  return agent;
}

async function resolveForModel(
  agent: CodingAgent,
  options: CodingAgentOptions,
  settings: Settings,
  onWarning: (text: string) => void,
): Promise<ResolvedAgent> {
  const { provider, callsTools } = await openModels(agent, options.model, settings, onWarning);
  const { hooks } = agent;
  return {
    ...withPrivacyViews(agent.forModel(provider, callsTools), undefined),
    limits: { turns: defaultMaxTurns, ...settings.limits, ...options.limits },
    ...(typeof options.approve === 'function' ? { onApproval: options.approve } : {}),
    ...(hooks
      ? {
          onInput: (text, state) => hooks.onPrompt(text, state),
          onEvent: (event, state) => hooks.onEvent(event, state),
        }
      : {}),
  };
}

async function openModels(
  agent: CodingAgent,
  model: CodingAgentOptions['model'],
  settings: Settings,
  onWarning: (text: string) => void,
): Promise<{ readonly provider: Provider; readonly callsTools: boolean }> {
  const host: ModelHost = { confirm: async () => false, progress: () => {}, notify: onWarning };
  if (isProvider(model)) {
    const ref = { provider: model.family, model: model.model };
    return { provider: withDlp(model, { ref }, settings, host), callsTools: true };
  }
  const names = model === undefined || typeof model === 'string' ? [model] : model;
  const models = await Promise.all(names.map((name) => resolveByName(name, settings)));
  const router = models.find((each) => each.router !== undefined);
  if (router || models.length === 0)
    throw new FairleadError(
      'agent/no-model',
      `A coding agent needs a model${router ? `, not the router ${router.name}` : ''}.`,
      {
        blame: 'user',
        hint: 'codingAgent({ model: "ollama/qwen3:8b" })',
      },
    );
  await assertPrivacy(agent, models, settings);
  const providers = await Promise.all(models.map((each) => openModel(each, settings, host)));
  const [first] = providers;
  return {
    provider: providers.length === 1 && first ? first : gateway(providers),
    callsTools: models.every(({ tools }) => tools !== false),
  };
}

/** The model of a name. `provider/model` need not be in the list of models that the settings name. */
async function resolveByName(name: string | undefined, settings: Settings): Promise<ResolvedModel> {
  if (!name?.includes('/')) return resolveModelUnattended({ model: name }, settings);
  return lookUpModel(name, settings) ?? { name, ref: parseModelRef(name) };
}

const isProvider = (model: CodingAgentOptions['model']): model is Provider =>
  typeof model === 'object' && 'stream' in model;

/** Throws if the user, or the AGENTS.md of the directory, demands privacy and a model is not on the user's own machines. */
async function assertPrivacy(
  { instructions }: CodingAgent,
  models: readonly ResolvedModel[],
  settings: Settings,
): Promise<void> {
  if (findPrivacyLabel({ private: false }, settings, instructions) === undefined) return;
  for (const model of models) await assertLocalModel(model, settings);
}

const withInstructions = (settings: Settings, instructions: string | undefined): Settings =>
  instructions === undefined
    ? settings
    : { ...settings, instructions: [settings.instructions, instructions].filter(Boolean).join('\n\n') };

function getSources({ stateDir, configDir }: CodingAgentOptions, cwd: string): Parameters<typeof readSettings>[0] {
  const state = stateDir === undefined ? undefined : path.resolve(stateDir);
  return {
    cwd,
    dirs: {
      ...(state === undefined ? {} : { state, data: path.join(state, 'data'), cache: path.join(state, 'cache') }),
      ...(configDir === undefined ? {} : { config: path.resolve(configDir) }),
    },
  };
}

/** The servers of the option, which the user of the library trusts as those of the user's own file. */
function parseServers(
  { mcp }: CodingAgentOptions,
  cwd: string,
  onWarning: (text: string) => void,
): readonly McpServer[] {
  if (!mcp) return [];
  // Relative commands are relative to the directory of this name.
  const file = path.join(cwd, 'options of codingAgent');
  const { servers, problems } = parseMcpConfig(JSON.stringify({ mcpServers: mcp.servers }), { file, origin: 'user' });
  for (const problem of problems) onWarning(problem);
  return servers;
}
