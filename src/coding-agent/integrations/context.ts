// The context that the integrations of a working directory are loaded with, and what each integration provides: tools, rules, hooks and a function that closes it.
import type { AgentFile } from '../../agent/agent-files/index.ts';
import type { Extension } from '../../agent/index.ts';
import type { SubagentInfo } from '../../agent/subagents/index.ts';
import type { Provider, RunState, Tool, ToolCall, Workspace } from '../../core/index.ts';
import type { HookIntegration } from '../../guards/hooks/index.ts';
import type { Sandbox, Redactor, TrustStore } from '../../guards/index.ts';
import type { McpServer } from '../../tools/mcp/index.ts';
import type { AskUser, GrantContext } from '../approval-prompts.ts';
import type { ResolvedModel } from '../models/resolve-model.ts';
import type { Settings } from '../settings/index.ts';

/** Asks and informs the user while tools are loaded and used. Without a user every answer is no. */
export type UserPrompter = {
  /** No user is present, so a missing approval is not a refusal. */
  readonly isAbsent?: boolean;
  /** Asks a yes-or-no question; `detail` is the exact subject of the question, unchanged. */
  confirm(question: string, detail?: string, signal?: AbortSignal): Promise<boolean>;
  /** Asks for a text or one of the choices; returns nothing if the user does not answer. Absent if no user can be asked. */
  askText?(question: string, choices: readonly string[], signal?: AbortSignal): Promise<string | undefined>;
  /** Asks about a call of a sub-agent, with the scopes and the replies of a call of the agent; absent if only yes or no can be asked. */
  readonly askApproval?: AskUser;
  /** Shows progress; each text replaces the one before. */
  progress(text: string): void;
  notify(text: string): void;
};

/** A prompter without a user: programs and servers of the project stay off, and messages go to `notify`. */
export const noUser = (notify: (text: string) => void): UserPrompter => ({
  isAbsent: true,
  confirm: async () => false,
  progress: notify,
  notify,
});

/** What the integrations of a directory are loaded with. */
export type IntegrationContext = {
  readonly settings: Settings;
  /** The config directory of the user, their home, and the real path of the working directory. */
  readonly paths: { readonly cwd: string; readonly home: string; readonly configDir: string };
  /** The workspace without a sandbox. */
  readonly workspace: Workspace;
  /** The workspace as the model's commands see it. */
  readonly sandboxedWorkspace: Workspace;
  readonly sandbox: Sandbox;
  /** The approvals of the user, by content. */
  readonly trust: TrustStore;
  /** Every secret that an integration receives must be added here: a key, a token, the value of a header. */
  readonly redactor: Redactor;
  readonly prompter: UserPrompter;
  /** The grants of the session, which the calls of sub-agents share. */
  readonly approvals: GrantContext;
  /** MCP servers of an editor or of the program. */
  readonly mcpServers?: readonly McpServer[];
  /** False starts no MCP server. */
  readonly startsServers?: boolean;
  /** Whether hooks are used; a list names more hook files of the user. */
  readonly hookFiles?: boolean | readonly string[];
  /** The current model; may be called only while a tool runs. */
  readonly model: () => Provider;
  /** The file of the session, once it is open. */
  readonly transcriptFile?: () => string | undefined;
  /** Throws if a tool may not send the session to this model. */
  readonly assertModelAllowed?: (model: ResolvedModel) => Promise<void>;
  /** Wraps every model that an integration opens. */
  readonly wrapProvider?: (provider: Provider) => Provider;
  /** Whether changes are made without approval at this moment. */
  readonly autoApprove?: () => boolean;
};

/** The agents that can be started, and the sub-agents of a session. */
export type AgentDirectory = {
  readonly files: readonly AgentFile[];
  /** The sub-agents of a session, running or not. */
  list(session: string): Promise<readonly SubagentInfo[]>;
  /** Stops a running sub-agent; false if none of this id is running. */
  stop(id: string): Promise<boolean>;
  /** Returns what the question shows about a call that starts a sub-agent, one sentence each; empty for other calls. */
  readonly describeStart: (call: Pick<ToolCall, 'tool' | 'input'>, state: RunState) => Promise<readonly string[]>;
};

/** What one integration provides. */
export type Integration = {
  readonly tools: readonly Tool[];
  /** What was not loaded, one sentence each. */
  readonly problems: readonly string[];
  /** Wraps a tool of any integration. */
  readonly wrapTool?: (tool: Tool) => Tool;
  /** Rules, views, gates, stop conditions, checks and renderers. */
  readonly extension?: Extension;
  /** The hashes of the rule files in force, in their order. */
  readonly ruleHashes?: readonly string[];
  /** The agent files, and the sub-agents of a session. */
  readonly agents?: AgentDirectory;
  /** A section of the system prompt. */
  readonly system?: string;
  /** Receives prompts before they are recorded, decides before the other guards, and receives events. */
  readonly hooks?: Pick<HookIntegration, 'onPrompt' | 'onEvent' | 'wrapGate' | 'wrapCompactor'>;
  /** Ends what the integration started; never throws. */
  close(): Promise<void>;
};

/** An integration that provides nothing. */
export const emptyIntegration: Integration = { tools: [], problems: [], close: async () => {} };
