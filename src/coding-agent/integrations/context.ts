// What the equipment of a working folder is made from, and what each source of it gives: tools, what was wrong, and something to close.
import type { Extension } from '../../agent/index.ts';
import type { Provider, Tool, Workspace } from '../../core/index.ts';
import type { HookIntegration } from '../../guards/hooks/index.ts';
import type { Sandbox, Redactor, TrustStore } from '../../guards/index.ts';
import type { McpServer } from '../../tools/mcp/index.ts';
import type { ResolvedModel } from '../models/resolve-model.ts';
import type { Settings } from '../settings/index.ts';

/** Who is there to be asked and told while tools are made ready and used. Where nobody is, every answer is no. */
export type UserPrompter = {
  /** Nobody is there: what is not agreed to was not refused either. */
  readonly isAbsent?: boolean;
  /** Yes or no to a question; `detail` is the exact thing that it is about, word for word. */
  confirm(question: string, detail?: string, signal?: AbortSignal): Promise<boolean>;
  /** The person's own words, or one of the choices; nothing where they will not say. Absent where nobody can be asked. */
  askText?(question: string, choices: readonly string[], signal?: AbortSignal): Promise<string | undefined>;
  /** Says how far something is; each sentence takes the place of the one before. */
  progress(text: string): void;
  notify(text: string): void;
};

/** Nobody to ask: a folder's own programs and servers stay off, and what there is to say is said. */
export const noUser = (say: (text: string) => void): UserPrompter => ({
  isAbsent: true,
  confirm: async () => false,
  progress: say,
  notify: say,
});

/** Where equipment is made. */
export type IntegrationContext = {
  readonly settings: Settings;
  /** The person's own folder of settings, their home, and the working folder, whose real path it is. */
  readonly paths: { readonly cwd: string; readonly home: string; readonly configDir: string };
  /** The folder as the person has it. */
  readonly workspace: Workspace;
  /** The folder as the model's commands see it. */
  readonly sandboxedWorkspace: Workspace;
  readonly sandbox: Sandbox;
  /** What was approved by its content. */
  readonly trust: TrustStore;
  /** To be told of every secret that a source is given: a key, a token, the value of a header. */
  readonly redactor: Redactor;
  readonly prompter: UserPrompter;
  /** MCP servers that an editor names for this session. */
  readonly mcpServers?: readonly McpServer[];
  /** Whether hooks are used; a list names more hook files of the user. */
  readonly hookFiles?: boolean | readonly string[];
  /** The model, once there is one: only to be asked for while a tool runs. */
  readonly model: () => Provider;
  /** The file of the session, once it is open. */
  readonly transcriptFile?: () => string | undefined;
  /** Throws where the session may not be told to a model that a tool wants. */
  readonly assertModelAllowed?: (model: ResolvedModel) => Promise<void>;
  /** To be put around every model that a source opens. */
  readonly wrapProvider?: (provider: Provider) => Provider;
  /** Whether changes are made unasked, as it stands now. */
  readonly autoApprove?: () => boolean;
};

/** What one source gives. */
export type Integration = {
  readonly tools: readonly Tool[];
  /** What was passed over, a sentence each. */
  readonly problems: readonly string[];
  /** Puts something around a tool, whichever source it is from. */
  readonly wrapTool?: (tool: Tool) => Tool;
  /** Rules, views, gates, stops, checks and renderers for the agent. */
  readonly extension?: Extension;
  /** A passage for the text that every request begins with. */
  readonly system?: string;
  /** Hears words before they are written down, stands beside the gate, and learns what happens. */
  readonly hooks?: Pick<HookIntegration, 'onPrompt' | 'onEvent' | 'wrapGate' | 'wrapCompactor'>;
  /** Ends what it started; never throws. */
  close(): Promise<void>;
};

/** A source that gives nothing. */
export const emptyIntegration: Integration = { tools: [], problems: [], close: async () => {} };
