// What the equipment of a working folder is made from, and what each source of it gives: tools, what was wrong, and something to close.
import type { Extension } from '../../agent/index.ts';
import type { Provider, Tool, Workspace } from '../../core/index.ts';
import type { HookIntegration } from '../../guards/hooks/index.ts';
import type { Sandbox, Redactor, TrustStore } from '../../guards/index.ts';
import type { McpServer } from '../../tools/mcp/index.ts';
import type { Chosen } from '../conversation/model.ts';
import type { Settings } from '../settings/index.ts';

/** Who is there to be asked and told while tools are made ready and used. Where nobody is, every answer is no. */
export type Person = {
  /** Nobody is there: what is not agreed to was not refused either. */
  readonly absent?: boolean;
  /** Yes or no to a question; `detail` is the exact thing that it is about, word for word. */
  agrees(question: string, detail?: string, signal?: AbortSignal): Promise<boolean>;
  /** The person's own words, or one of the choices; nothing where they will not say. Absent where nobody can be asked. */
  words?(question: string, choices: readonly string[], signal?: AbortSignal): Promise<string | undefined>;
  /** Says how far something is; each sentence takes the place of the one before. */
  progress(text: string): void;
  say(text: string): void;
};

/** Nobody to ask: a folder's own programs and servers stay off, and what there is to say is said. */
export const nobody = (say: (text: string) => void): Person => ({
  absent: true,
  agrees: async () => false,
  progress: say,
  say,
});

/** Where equipment is made. */
export type Ground = {
  readonly settings: Settings;
  /** The person's own folder of settings, their home, and the working folder, whose real path it is. */
  readonly places: { readonly cwd: string; readonly home: string; readonly configDir: string };
  /** The folder as the person has it. */
  readonly workspace: Workspace;
  /** The folder as the model's commands see it. */
  readonly confined: Workspace;
  readonly sandbox: Sandbox;
  /** What was approved by its content. */
  readonly trust: TrustStore;
  /** To be told of every secret that a source is given: a key, a token, the value of a header. */
  readonly secrets: Redactor;
  readonly person: Person;
  /** MCP servers that an editor names for this session. */
  readonly servers?: readonly McpServer[];
  /** The model, once there is one: only to be asked for while a tool runs. */
  readonly model: () => Provider;
  /** The file of the session, once it is open. */
  readonly transcript?: () => string | undefined;
  /** Throws where the session may not be told to a model that a tool wants. */
  readonly mayUse?: (model: Chosen) => Promise<void>;
  /** To be put around every model that a source opens. */
  readonly govern?: (provider: Provider) => Provider;
  /** Whether changes are made unasked, as it stands now. */
  readonly auto?: () => boolean;
};

/** What one source gives. */
export type Equipment = {
  readonly tools: readonly Tool[];
  /** What was passed over, a sentence each. */
  readonly problems: readonly string[];
  /** Puts something around a tool, whichever source it is from. */
  readonly around?: (tool: Tool) => Tool;
  /** Rules, views, gates, stops, checks and renderers for the agent. */
  readonly extension?: Extension;
  /** A passage for the text that every request begins with. */
  readonly system?: string;
  /** Hears words before they are written down, stands beside the gate, and learns what happens. */
  readonly ears?: Pick<HookIntegration, 'onPrompt' | 'onEvent' | 'wrapGate' | 'wrapCompactor'>;
  /** Ends what it started; never throws. */
  close(): Promise<void>;
};

/** A source that gives nothing. */
export const nothing: Equipment = { tools: [], problems: [], close: async () => {} };
