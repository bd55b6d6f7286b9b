// What the terminal program shows and hears, whatever the terminal is: the screen and the plain mode are two faces of one conversation.
import type { ConversationStatus } from '../../coding-agent/conversation-status.ts';
import type { TranscriptSink } from '../../sessions/transcript-block.ts';

/** What the person did. */
export type UserAction =
  /** Enter sends, or steers a run that is going on; `follow-up` (Alt+Enter) waits for its answer. */
  | { readonly type: 'submit'; readonly text: string; readonly how: 'enter' | 'follow-up' }
  /** Esc while something runs. */
  | { readonly type: 'interrupt' }
  /** Esc Esc while nothing runs: back to an earlier message. */
  | { readonly type: 'rewind' }
  /** Shift+Tab: the next approval mode. */
  | { readonly type: 'toggle-approval' }
  /** Ctrl+C twice, Ctrl+D on an empty line, or the end of the input. */
  | { readonly type: 'quit' };

/** A question with a few keys as answers; no answer, Esc or the end of the input is `otherwise`. */
export type KeyQuestion = {
  readonly title: string;
  /** The exact thing that is asked about, word for word. */
  readonly detail?: string;
  readonly keys: readonly { readonly key: string; readonly label: string }[];
  /** The key that counts when the person just presses Enter; written as a capital letter. */
  readonly defaultKey: string;
};

/** One of several things to choose from. */
export type UiChoice = { readonly value: string; readonly label: string; readonly description?: string };

/** What could stand at the cursor: `from` is where the word begins that a suggestion replaces. */
export type Suggestions = { readonly from: number; readonly choices: readonly UiChoice[] };

/** Finds what could stand at the end of this text; nothing where nothing fits. */
export type Completer = (before: string, signal: AbortSignal) => Promise<Suggestions | undefined>;

/** A terminal, as the conversation knows it. */
export interface TerminalUI extends TranscriptSink {
  /** An empty screen; what was said is not forgotten. */
  clear(): void;
  setStatus(status: ConversationStatus): void;
  /** What the person does, as it happens; one listener. Entries made before it was set wait; in a pipe the next entry waits for the promise of the one before, and for the end of what is busy. */
  onAction(heard: (heard: UserAction) => void | Promise<void>): void;
  /** Asks and waits; an aborted signal answers `otherwise`. Several questions queue. */
  askKey(question: KeyQuestion, signal?: AbortSignal): Promise<string>;
  /** A list to choose from with the arrow keys, narrowed by typing; nothing if the person leaves it. */
  pick(title: string, choices: readonly UiChoice[], signal?: AbortSignal): Promise<string | undefined>;
  /** Asks for the person's own words, which may be one of the choices; nothing where they leave it. Several questions queue. Absent where nobody types, as in a pipe. */
  readonly askText?: (title: string, choices: readonly string[], signal?: AbortSignal) => Promise<string | undefined>;
  /** Puts text into the entry field, as if it had been typed. */
  setInput(text: string): void;
  setCompleter(completer: Completer): void;
  /** Entries of earlier days, oldest first, for the arrow keys. */
  setHistory(entries: readonly string[]): void;
  /** Hands the whole terminal to another program while this work lasts. */
  suspendFor<T>(work: () => Promise<T>): Promise<T>;
  /** Gives the terminal back as it was. */
  close(): Promise<void>;
}
