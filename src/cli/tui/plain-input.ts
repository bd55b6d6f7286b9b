// The input of the plain UI: lines, the end of the input, and the few keys of line editing.
import { createInterface, type Interface } from 'node:readline';
import type { Completer } from './ui.ts';

/** The events of the input. */
export type PlainInputEvents = {
  line(text: string): void;
  end(): void;
  /** Ctrl+C; `draft` if it cleared a line that was being typed. */
  interrupt(draft: boolean): void;
  /** Esc. */
  escape(): void;
  /** Shift+Tab. */
  toggleApproval(): void;
};

/** Reads the input until it is closed. */
export type PlainInput = {
  /** Shows the prompt if line editing is on; otherwise does nothing. */
  prompt(text: string): void;
  /** Removes and returns the text of the current line; returns '' without line editing. */
  takeText(): string;
  write(text: string): void;
  setCompleter(completer: Completer): void;
  setHistory(entries: readonly string[]): void;
  close(): void;
};

/** Opens the input; `editing` turns on history, completion and keys, which need escape sequences. */
export function createPlainInput(
  input: NodeJS.ReadStream,
  output: NodeJS.WriteStream,
  editing: boolean,
  events: PlainInputEvents,
): PlainInput {
  let completer: Completer | undefined;
  let isClosed = false;
  async function complete(line: string): Promise<[string[], string]> {
    const found = await completer?.(line, new AbortController().signal).catch(() => undefined);
    return found === undefined ? [[], line] : [found.choices.map(({ value }) => value), line.slice(found.from)];
  }
  const completeLine = (line: string, done: (error: Error | null, result: [string[], string]) => void): void => {
    void (async () => done(null, await complete(line)))();
  };
  const lines = createInterface(
    editing ? { input, output, terminal: true, completer: completeLine } : { input, terminal: false },
  );
  lines.on('line', (text) => events.line(text));
  lines.on('close', () => isClosed || events.end());
  const onInterrupt = (): void => {
    const draft = editing && lines.line !== '';
    if (draft) lines.write(null, { ctrl: true, name: 'u' });
    events.interrupt(draft);
  };
  const onKey = (_: string | undefined, key: { name?: string; shift?: boolean } | undefined): void => {
    if (key?.name === 'escape') events.escape();
    else if (key?.name === 'tab' && key.shift === true) events.toggleApproval();
  };
  // With piped input the default action of SIGINT applies.
  const handlesSigint = input.isTTY && !editing;
  if (handlesSigint) process.on('SIGINT', onInterrupt);
  if (editing) {
    lines.on('SIGINT', onInterrupt);
    input.on('keypress', onKey);
  }
  return {
    prompt(text) {
      if (!editing) return;
      lines.setPrompt(text);
      lines.prompt(true);
    },
    takeText: () => (editing ? takeLine(lines) : ''),
    write: (text) => editing && lines.write(text),
    setCompleter: (value) => void (completer = value),
    setHistory(entries) {
      const history: unknown = Reflect.get(lines, 'history');
      if (Array.isArray(history)) history.push(...entries.toReversed().slice(0, 500));
    },
    close() {
      isClosed = true;
      if (handlesSigint) process.off('SIGINT', onInterrupt);
      input.off('keypress', onKey);
      lines.close();
    },
  };
}

function takeLine(lines: Interface): string {
  const text = lines.line;
  if (text !== '') {
    lines.write(null, { ctrl: true, name: 'e' });
    lines.write(null, { ctrl: true, name: 'u' });
  }
  return text;
}
