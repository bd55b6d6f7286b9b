// What a slash command works with: the conversation, the terminal it is shown on, and words for the person.
import type { Conversation } from '../conversation/conversation.ts';
import type { Choice, Face } from '../face/face.ts';

/** Why the signal of a desk is aborted once the person leaves: what is asked then stays open for the next time. */
export const leaving: unique symbol = Symbol('leaving');

/** The place where a person and a conversation meet. */
export type Desk = {
  readonly talk: Conversation;
  readonly face: Face;
  /** Aborted when the person interrupts what is being done. */
  readonly signal: AbortSignal;
  /** Says a sentence that no model sees. */
  readonly say: (text: string, level?: 'info' | 'warning' | 'error') => void;
  /** Shows a text of several lines that no model sees. */
  readonly page: (text: string, title?: string) => void;
  /** Shows the status as it is now. */
  readonly refresh: () => void;
  /** Whether a run goes on, also while it waits for the person: words then join it. */
  readonly conversing: boolean;
  /** Runs the model, with these words or from where the session stands, and asks the person what it asks. */
  readonly converse: (words?: string) => Promise<void>;
  /** Ends the program once the command is done. */
  readonly quit: () => void;
};

/** A command that begins with a slash. */
export type SlashCommand = {
  readonly name: string;
  readonly about: string;
  /** What follows the name, as the help shows it. */
  readonly takes?: string;
  /** May be used while the model works: it only looks, or it belongs to the run. */
  readonly anytime?: boolean;
  run(args: string, desk: Desk): Promise<void> | void;
  /** What could follow the name. */
  complete?(args: string, desk: Pick<Desk, 'talk'>): Promise<readonly Choice[]> | readonly Choice[];
};
