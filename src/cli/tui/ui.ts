// The interface of the terminal UI: the full screen and the plain lines implement it.
import type { ConversationStatus } from '../../coding-agent/index.ts';
import type { Theme } from './ansi-style.ts';
import type { TranscriptSink } from '../../sessions/index.ts';

/** An action of the user. */
export type UserAction =
  /** Enter submits, or steers an active run; `follow-up` (Alt+Enter) waits for the answer of the run. */
  | { readonly type: 'submit'; readonly text: string; readonly how: 'enter' | 'follow-up' }
  /** Esc during a job. */
  | { readonly type: 'interrupt' }
  /** Esc Esc while idle: go back to an earlier message. */
  | { readonly type: 'rewind' }
  /** Shift+Tab: switch between asking and automatic approval. */
  | { readonly type: 'toggle-approval' }
  /** Ctrl+V: paste an image from the clipboard. */
  | { readonly type: 'paste-image' }
  /** Ctrl+C twice, Ctrl+D on an empty line, or the end of the input. */
  | { readonly type: 'quit' };

/** A question with numbered choices. A choice needs Enter: after an arrow key, a number, or the letter of the choice. No answer, Esc or the end of the input gives `defaultKey`. */
export type KeyQuestion = {
  readonly title: string;
  /** What the question is about, verbatim. */
  readonly detail?: string;
  /** Whether the detail is the preview of a call: the lines of its diffs are colored. */
  readonly isPreview?: boolean;
  /** The choices. A key of one letter can be typed as an answer; other keys only name the choice for the caller. */
  readonly keys: readonly { readonly key: string; readonly label: string }[];
  /** The choice that is selected at first; its letter is shown as a capital. */
  readonly defaultKey: string;
  /**
   * Called with a text that names no choice; the question is then answered with `defaultKey`. Without it such a text is
   * submitted like any other input, and the question stays open.
   */
  readonly onReply?: (text: string) => void;
  /** Whether the answer is not shown as a notice, because the view shows it elsewhere. */
  readonly hidesAnswer?: boolean;
};

/** An item of a list to choose from. */
export type UiChoice = { readonly value: string; readonly label: string; readonly description?: string };

/** The options of a list to choose from. */
export type PickOptions = {
  readonly signal?: AbortSignal | undefined;
  /** What the list contains, for the text that no entry matches. */
  readonly noun?: string;
  /** Finds more choices for the typed text, such as by contents that the list does not show. They follow the choices that match. */
  readonly search?: (query: string, signal: AbortSignal) => AsyncIterable<UiChoice>;
};

/** Completions at the cursor; `from` is the start of the text that a completion replaces. */
export type Suggestions = { readonly from: number; readonly choices: readonly UiChoice[] };

/** Finds completions for the end of this text; undefined if there are none. */
export type Completer = (before: string, signal: AbortSignal) => Promise<Suggestions | undefined>;

/** The terminal UI of a conversation. */
export interface TerminalUI extends TranscriptSink {
  /** Clears the screen; the session is not changed. */
  clear(): void;
  setStatus(status: ConversationStatus): void;
  /**
   * Sets the one listener for user actions. Actions before this call are queued.
   * With piped input the next line waits for the promise of the previous one, and until the status is not busy.
   */
  onAction(listener: (action: UserAction) => void | Promise<void>): void;
  /** Sets what Esc, Ctrl+C and Ctrl+D do before `onAction` was called, such as ending a download; undefined for nothing. */
  onCancel(listener: (() => void) | undefined): void;
  /** Asks a question; an aborted signal gives `defaultKey`. Questions are queued. */
  askKey(question: KeyQuestion, signal?: AbortSignal): Promise<string>;
  /** Shows a list to choose from, filtered by typing; undefined if the user cancels. */
  pick(title: string, choices: readonly UiChoice[], options?: PickOptions): Promise<string | undefined>;
  /** Asks for a text, which may be one of the choices; undefined if the user skips it. Questions are queued. Absent with piped input. */
  readonly askText?: (title: string, choices: readonly string[], signal?: AbortSignal) => Promise<string | undefined>;
  /** Puts text into the input field, as if the user had typed it. */
  setInput(text: string): void;
  /** Inserts text into the input field at the cursor. */
  insertInput(text: string): void;
  /** Changes the colors; absent for plain lines. */
  readonly setTheme?: (theme: Theme) => void;
  setCompleter(completer: Completer): void;
  /** Sets earlier inputs, oldest first, for the arrow keys. */
  setHistory(entries: readonly string[]): void;
  /** Gives the terminal to another program while `work` runs. */
  suspendFor<T>(work: () => Promise<T>): Promise<T>;
  /** Restores the terminal. */
  close(): Promise<void>;
}
