// The types of agent files: agents that a user or a project describes in Markdown files.
import type { AgentFileFormat } from '../project-files/agent-dirs.ts';
import type { FileProblem } from '../project-files/paths.ts';
import type { BudgetShare } from '../subagents/budget-share.ts';

/** What an agent file says, with the names of our tools. */
export type AgentDefinition = {
  readonly name: string;
  /** When the model should use the agent. */
  readonly description: string;
  /** The body of the file: it is added to the system prompt of the agent. */
  readonly instructions: string;
  /** The tools that it may have, of those of its parent; all of them if absent. A name that ends with `*` is the beginning of names. */
  readonly tools?: readonly string[];
  /** The tools that it does not get. */
  readonly disallowedTools?: readonly string[];
  /** A model by name, or by a short name of the settings; that of the parent if absent. */
  readonly model?: string;
  /** The most that one agent may use, within what its parent has left. */
  readonly limits?: BudgetShare;
  /** It changes nothing, whatever its parent may do. */
  readonly readOnly?: boolean;
  /** It always runs in parallel to its parent. */
  readonly background?: boolean;
  /** It works in a git worktree of its own. */
  readonly isolation?: 'worktree';
  /** Why a model cannot start it; absent if it can. */
  readonly disabled?: string;
  /** What of the file is not used, one sentence each. */
  readonly notes: readonly string[];
};

/** Whether a file of a project is approved with its present text; the files of the user are. */
export type AgentFileStatus = 'trusted' | 'new' | 'changed' | 'refused';

/** An agent file that was found. */
export type AgentFile = AgentDefinition & {
  readonly file: string;
  readonly scope: 'personal' | 'project';
  readonly format: AgentFileFormat;
  /** The text of the file, which the user approves. */
  readonly text: string;
  /** The SHA-256 of the text. */
  readonly hash: string;
  readonly status: AgentFileStatus;
};

/** The agent files by unique name, and the files that were skipped. */
export type AgentFiles = { readonly agents: readonly AgentFile[]; readonly problems: readonly FileProblem[] };
