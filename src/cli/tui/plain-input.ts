// The plain face's ear: lines of the input, its end, and the few keys a terminal gives besides.
import { createInterface, type Interface } from 'node:readline';
import type { Completer } from './ui.ts';

/** What the ear hears. */
export type PlainInputEvents = {
  line(text: string): void;
  end(): void;
  /** Ctrl+C; `draft` when a line was being typed, which it clears. */
  interrupt(draft: boolean): void;
  /** Esc. */
  escape(): void;
  /** Shift+Tab. */
  mode(): void;
};

/** Listens to the input until it is shut. */
export type PlainInput = {
  /** Shows the prompt where lines can be edited; nothing where the terminal does that itself. */
  prompt(text: string): void;
  /** What has been typed on the current line, taken away; nothing where only the terminal knows. */
  takeText(): string;
  write(text: string): void;
  setCompleter(completer: Completer): void;
  setHistory(entries: readonly string[]): void;
  close(): void;
};

/** Opens the ear; `editing` gives history, completion and keys, at the price of escape sequences. */
export function createPlainInput(
  input: NodeJS.ReadStream,
  output: NodeJS.WriteStream,
  editing: boolean,
  events: PlainInputEvents,
): PlainInput {
  let completer: Completer | undefined;
  let shut = false;
  async function find(line: string): Promise<[string[], string]> {
    const found = await completer?.(line, new AbortController().signal).catch(() => undefined);
    return found === undefined ? [[], line] : [found.choices.map(({ value }) => value), line.slice(found.from)];
  }
  const complete = (line: string, give: (fault: Error | null, found: [string[], string]) => void): void => {
    void find(line).then((found) => give(null, found));
  };
  const lines = createInterface(
    editing ? { input, output, terminal: true, completer: complete } : { input, terminal: false },
  );
  lines.on('line', (text) => events.line(text));
  lines.on('close', () => shut || events.end());
  const onStop = (): void => {
    const draft = editing && lines.line !== '';
    if (draft) lines.write(null, { ctrl: true, name: 'u' });
    events.interrupt(draft);
  };
  const onKey = (_: string | undefined, key: { name?: string; shift?: boolean } | undefined): void => {
    if (key?.name === 'escape') events.escape();
    else if (key?.name === 'tab' && key.shift === true) events.mode();
  };
  // In a pipe an interruption is the program's own affair.
  const signals = input.isTTY && !editing;
  if (signals) process.on('SIGINT', onStop);
  if (editing) {
    lines.on('SIGINT', onStop);
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
    setCompleter: (given) => void (completer = given),
    setHistory(entries) {
      const past: unknown = Reflect.get(lines, 'history');
      if (Array.isArray(past)) past.push(...entries.toReversed().slice(0, 500));
    },
    close() {
      shut = true;
      if (signals) process.off('SIGINT', onStop);
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
