// The options of createCodingAgent.
import type { JsonObject, OutputSchema, Provider, Tool } from '../core/index.ts';
import type { Grants, PermissionMode, SandboxMode } from '../guards/index.ts';
import type { BackgroundCommands } from '../tools/index.ts';
import type { McpServer } from '../tools/mcp/index.ts';
import type { AcceptInstructions } from './instructions/review.ts';
import type { UserPrompter } from './integrations/context.ts';
import type { ResolvedModel } from './models/resolve-model.ts';
import type { Settings } from './settings/index.ts';

/** The options of `createCodingAgent`. */
export type CreateCodingAgentOptions = {
  readonly settings: Settings;
  readonly cwd: string;
  /** Whether changes are made without approval; read for each call. */
  readonly autoApprove: () => boolean;
  /** The permission mode, read for each call; `auto` or `ask` as `autoApprove` says by default. */
  readonly mode?: () => PermissionMode;
  /** The grants of the session; none by default. */
  readonly grants?: Grants;
  /** The agent only runs code in a container, and has no other tools. */
  readonly codeOnly?: boolean;
  /** The sandbox of commands; `auto` by default. Only the user may choose `none`. */
  readonly sandbox?: SandboxMode;
  /** A policy in addition to the policy files: the path of a file, or its contents. */
  readonly policy?: string | JsonObject;
  /** Whether hooks are used; a list names more hook files of the user. */
  readonly hooks?: boolean | readonly string[];
  /** Whether skills are used; a list names more directories of the user. */
  readonly skills?: boolean | readonly string[];
  /** Asks the user about tools, hooks, rules and servers of the project; without it none of them is approved. */
  readonly prompter?: UserPrompter;
  /**
   * Decides whether changed instruction files of the project count: AGENTS.md, commands, skills. By default `prompter` shows a diff and asks;
   * false, or no user, keeps the earlier texts.
   */
  readonly onInstructionsChanged?: AcceptInstructions | false;
  /** The directory whose folders `.agents` and `.claude` have the user's skills, commands and hooks; the home directory by default. */
  readonly resourceHome?: string;
  /** MCP servers in addition to the configured ones: of an editor, or of the program. */
  readonly mcpServers?: readonly McpServer[];
  /** False starts no MCP server: the agent is compared with a recording and runs nothing. */
  readonly startsServers?: boolean;
  readonly outputSchema?: OutputSchema;
  /** Tools whose calls the client runs. */
  readonly clientTools?: readonly Tool[];
  /** The file of the session, once it is open. */
  readonly transcriptFile?: () => string | undefined;
  /** Throws if a tool may not send the session to this model; every model is allowed by default. */
  readonly assertModelAllowed?: (model: ResolvedModel) => Promise<void>;
  /** Wraps every other model that a tool opens, such as that of a sub-agent. */
  readonly wrapProvider?: (provider: Provider) => Provider;
  /** The model that reviews calls of runs without a user; by default that of the setting `reviewer.model`. */
  readonly reviewer?: string | Provider;
  /** The background commands of an earlier agent for the same directory, which continue. */
  readonly background?: BackgroundCommands;
};
