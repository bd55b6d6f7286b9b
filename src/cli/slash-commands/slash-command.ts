// The types of slash commands and of the context they run in.
import type { UserInput } from '../../agent/index.ts';
import type { Conversation } from '../../coding-agent/index.ts';
import type { UiChoice, TerminalUI } from '../tui/ui.ts';

/** What a slash command works with: the conversation and the UI that shows it. */
export type CommandContext = {
  readonly conversation: Conversation;
  readonly ui: TerminalUI;
  /** Aborted when the user interrupts the command. */
  readonly signal: AbortSignal;
  /** Shows a sentence that is not sent to a model. */
  readonly notify: (text: string, level?: 'info' | 'warning' | 'error') => void;
  /** Shows a text of several lines that is not sent to a model. */
  readonly showPage: (text: string, title?: string) => void;
  /** Updates the status line. */
  readonly refreshStatus: () => void;
  /** Whether a run is active or waits for approval: prompts then join the run. */
  readonly isRunning: boolean;
  /** Runs the model with a prompt, or continues the session without one, and asks the user for approvals. */
  readonly runAgent: (prompt?: UserInput) => Promise<void>;
  /** Ends the program once the command is done. */
  readonly quit: () => void;
};

/** A command that starts with a slash. */
export type SlashCommand = {
  readonly name: string;
  readonly description: string;
  /** The arguments as the help shows them. */
  readonly argumentHint?: string;
  /** Whether the command may be used during a run. */
  readonly allowedDuringRun?: boolean;
  run(args: string, context: CommandContext): Promise<void> | void;
  /** Completes the arguments. */
  complete?(
    args: string,
    context: Pick<CommandContext, 'conversation'>,
  ): Promise<readonly UiChoice[]> | readonly UiChoice[];
};
