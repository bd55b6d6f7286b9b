// What a slash command works with: the conversation, the terminal it is shown on, and words for the person.
import type { Conversation } from '../../coding-agent/conversation.ts';
import type { UiChoice, TerminalUI } from '../tui/ui.ts';

/** Why the signal of a desk is aborted once the person leaves: what is asked then stays open for the next time. */
export const quitReason: unique symbol = Symbol('leaving');

/** The place where a person and a conversation meet. */
export type CommandContext = {
  readonly conversation: Conversation;
  readonly ui: TerminalUI;
  /** Aborted when the person interrupts what is being done. */
  readonly signal: AbortSignal;
  /** Says a sentence that no model sees. */
  readonly notify: (text: string, level?: 'info' | 'warning' | 'error') => void;
  /** Shows a text of several lines that no model sees. */
  readonly showPage: (text: string, title?: string) => void;
  /** Shows the status as it is now. */
  readonly refreshStatus: () => void;
  /** Whether a run goes on, also while it waits for the person: words then join it. */
  readonly isRunning: boolean;
  /** Runs the model, with these words or from where the session stands, and asks the person what it asks. */
  readonly runAgent: (words?: string) => Promise<void>;
  /** Ends the program once the command is done. */
  readonly quit: () => void;
};

/** A command that begins with a slash. */
export type SlashCommand = {
  readonly name: string;
  readonly description: string;
  /** What follows the name, as the help shows it. */
  readonly argumentHint?: string;
  /** May be used while the model works: it only looks, or it belongs to the run. */
  readonly allowedDuringRun?: boolean;
  run(args: string, desk: CommandContext): Promise<void> | void;
  /** What could follow the name. */
  complete?(
    args: string,
    desk: Pick<CommandContext, 'conversation'>,
  ): Promise<readonly UiChoice[]> | readonly UiChoice[];
};
