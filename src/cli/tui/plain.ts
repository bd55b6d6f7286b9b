// The plain face: everything as lines in order, for screen readers, dumb terminals and pipes; nothing is redrawn.
import type { UiChoice, Completer, TerminalUI, UserAction } from './ui.ts';
import { escapeInvisible } from '../../core/index.ts';
import { createTextStyles } from './ansi-style.ts';
import { createPlainInput, type PlainInput, type PlainInputEvents } from './plain-input.ts';
import { createPlainOutput } from './plain-output.ts';
import { MIN_VISIBLE_MS } from './answer-delay.ts';
import {
  parseChoiceAnswer,
  formatChoices,
  formatQuestionKeys,
  formatQuestionLabels,
  formatStatusParts,
} from './format.ts';
import type { ConversationStatus } from '../../coding-agent/index.ts';

/** Where the plain face reads and writes, and how much it may do there. */
export type PlainUiOptions = {
  readonly input: NodeJS.ReadStream;
  readonly output: NodeJS.WriteStream;
  readonly colors: boolean;
  /** Whether lines may be edited with history and completion, which takes escape sequences. */
  readonly lineEditing: boolean;
};

const QUIT_WINDOW_MS = 2000;
const WAITING_NOTICE_MS = 1000;

type LineReader = { readonly since: number; readonly takeLine: (line: string | undefined) => boolean };

/** Opens the plain face. */
export function createPlainUi({ input, output, colors, lineEditing }: PlainUiOptions): TerminalUI {
  const person = input.isTTY && output.isTTY;
  const voice = createPlainOutput((text) => void output.write(text), createTextStyles(colors ? 'colors' : 'none'));
  const pending: string[] = [];
  const echoed: string[] = [];
  let listener: ((heard: UserAction) => void | Promise<void>) | undefined;
  let reader: LineReader | undefined;
  let queue: Promise<unknown> = Promise.resolve();
  let status: ConversationStatus | undefined;
  let statusSaid = '';
  let handling = 0;
  let ended = false;
  let closed = false;
  let prompted = false;
  let begun = '';
  let draft = '';
  let filled = '';
  let stopAt = 0;
  let completer: Completer | undefined;
  let prompting: NodeJS.Timeout | undefined;
  let slow: NodeJS.Timeout | undefined;

  const idle = (): boolean => listener !== undefined && handling === 0 && status?.busy === undefined && !reader;

  function hear(heard: UserAction): void {
    const done = listener?.(heard);
    if (done === undefined) return;
    handling += 1;
    void done.finally(() => {
      handling -= 1;
      pump();
    });
  }

  // In a pipe the next line waits for the work of the one before; a person's line goes at once and steers.
  function pump(): void {
    const line = listener !== undefined && (person || idle()) ? pending.shift() : undefined;
    if (line !== undefined) {
      const text = line.trim() === '' ? draft : line;
      draft = '';
      // What the terminal has echoed already is not said again; commands are never said at all.
      if (person) echoed.splice(0, Math.max(0, echoed.push(text) - 10));
      if (text !== '') hear({ type: 'submit', text, how: 'enter' });
      setImmediate(pump);
    }
    if (ended && pending.length === 0 && (person || idle())) quit();
    promptSoon();
  }

  function quit(): void {
    if (closed || listener === undefined) return;
    ended = false;
    hear({ type: 'quit' });
  }

  // Nobody listens before the conversation has begun: whoever wants to leave must be able to.
  function leave(): void {
    ear.close();
    process.kill(process.pid, 'SIGINT');
  }

  function promptSoon(): void {
    if (!person || closed) return;
    clearTimeout(prompting);
    prompting = setTimeout(() => {
      if (!idle() || prompted || ended) return;
      const parts = status === undefined ? '' : formatStatusParts(status).join(' · ');
      if (parts !== statusSaid) voice.printLine(`[status] ${parts}`);
      statusSaid = parts;
      ask('> ');
      // Written sooner it would stand before its prompt.
      if (filled !== '') ear.write(filled);
      filled = '';
    }, 30);
  }

  function ask(prompt: string): void {
    prompted = true;
    if (!lineEditing) return voice.write(prompt);
    voice.write('');
    ear.prompt(prompt);
  }

  // Whatever is said while a prompt waits begins on a line of its own, and the prompt comes back after it.
  function speak(act: () => void): void {
    if (prompted && reader === undefined) {
      prompted = false;
      // Where lines are edited the voice does not know that it stands behind a prompt.
      voice.write(lineEditing ? '\n' : '');
    }
    act();
    promptSoon();
  }

  const events: PlainInputEvents = {
    line(text) {
      voice.markLineStart();
      prompted = false;
      if (reader !== undefined && Date.now() - reader.since >= (person ? MIN_VISIBLE_MS : 0) && reader.takeLine(text))
        return;
      if (text.endsWith('\\')) {
        begun += `${text.slice(0, -1)}\n`;
        return;
      }
      pending.push(begun + text);
      begun = '';
      pump();
    },
    end() {
      ended = true;
      reader?.takeLine(undefined);
      pump();
    },
    interrupt(hadDraft) {
      voice.markLineStart();
      prompted = false;
      const busy = status?.busy !== undefined;
      reader?.takeLine(undefined);
      if (busy) return hear({ type: 'interrupt' });
      if (hadDraft) return promptSoon();
      if (Date.now() - stopAt < QUIT_WINDOW_MS) return listener === undefined ? leave() : quit();
      stopAt = Date.now();
      speak(() => voice.printLine('(press Ctrl+C again to quit)'));
    },
    escape() {
      if (reader !== undefined) reader.takeLine(undefined);
      else if (status?.busy !== undefined) hear({ type: 'interrupt' });
    },
    mode: () => hear({ type: 'toggle-approval' }),
  };
  let ear: PlainInput = createPlainInput(input, output, lineEditing, events);

  // Reads one line for a question; `take` says whether the line was meant for it.
  function read<T>(
    prompt: string,
    nothing: T,
    signal: AbortSignal | undefined,
    take: (line: string) => T | 'again' | 'not mine',
  ): Promise<T> {
    return new Promise((resolve) => {
      const kept = ear.takeText();
      const end = (value: T): void => {
        reader = undefined;
        signal?.removeEventListener('abort', stop);
        if (kept !== '') ear.write(kept);
        resolve(value);
        pump();
      };
      const stop = (): void => end(nothing);
      if (signal?.aborted === true || (ended && pending.length === 0)) return stop();
      signal?.addEventListener('abort', stop);
      const given = (line: string | undefined): boolean => {
        if (line === undefined) return (stop(), true);
        const value = take(line.trim());
        prompted = false;
        // Nobody typed it where it could be seen.
        if (!person) voice.endLine(value === 'not mine' ? '' : escapeInvisible(line));
        if (value === 'again') return (ask(prompt), true);
        end(value === 'not mine' ? nothing : value);
        return value !== 'not mine';
      };
      reader = { since: Date.now(), takeLine: given };
      ask(prompt);
      const next = person ? undefined : pending[0];
      if (next !== undefined && given(next)) pending.shift();
    });
  }

  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const turn = queue.then(work);
    queue = turn.catch(() => undefined);
    return turn;
  };

  const words = (title: string, choices: readonly string[], signal?: AbortSignal): Promise<string | undefined> =>
    inTurn(() => {
      speak(() => voice.printLine([escapeInvisible(title), ...formatChoices(choices.map(escapeInvisible))].join('\n')));
      const prompt = `${choices.length > 0 ? 'a number or your own words' : 'your words'}, nothing to leave: `;
      return read(prompt, undefined, signal, (line) => parseChoiceAnswer(line, choices));
    });

  return {
    putBlock(block) {
      const typed = block.type === 'said' ? echoed.indexOf(block.text) : -1;
      if (typed >= 0) return void echoed.splice(typed, 1);
      speak(() => voice.printBlock(block));
    },
    appendText: (id, text) => speak(() => voice.appendText(id, text)),
    removeBlock: (id) => speak(() => voice.removeBlock(id)),
    clear: () => undefined,
    setStatus(now) {
      const was = status?.busy;
      status = now;
      if (now.busy !== was) {
        clearTimeout(slow);
        const { busy } = now;
        if (person && busy !== undefined)
          slow = setTimeout(() => reader ?? voice.printLine(`[waiting] ${escapeInvisible(busy)}`), WAITING_NOTICE_MS);
      }
      pump();
    },
    onAction(heard) {
      listener = heard;
      pump();
    },
    askKey: (question, signal) =>
      inTurn(() => {
        speak(() => {
          voice.printLine(escapeInvisible(question.title));
          if (question.detail !== undefined)
            voice.printLine(`  ${escapeInvisible(question.detail).replaceAll('\n', '\n  ')}`);
        });
        return read(
          `${formatQuestionLabels(question)} ${formatQuestionKeys(question)} `,
          question.defaultKey,
          signal,
          (line) => {
            if (line === '') return question.defaultKey;
            const word = line.toLowerCase();
            const meant = question.keys.find(({ key, label }) => key === word || label.toLowerCase() === word);
            if (meant !== undefined) return meant.key;
            return person ? 'again' : 'not mine';
          },
        );
      }),
    pick: (title, choices, signal) =>
      inTurn(() => {
        speak(() => voice.printLine([escapeInvisible(title), ...formatChoices(choices.map(formatChoice))].join('\n')));
        return read<string | undefined>('number or name, nothing to leave: ', undefined, signal, (line) => {
          if (line === '') return undefined;
          const meant = choices[Number(line) - 1] ?? choices.find(({ value, label }) => [value, label].includes(line));
          return meant?.value ?? 'again';
        });
      }),
    // In a pipe the next line is meant for the conversation: nobody has seen the question.
    ...(person ? { askText: words } : {}),
    setInput(text) {
      if (lineEditing && !text.includes('\n')) {
        if (prompted) return ear.write(text);
        filled = text;
        return promptSoon();
      }
      draft = text;
      speak(() => voice.printLine(`[draft] ${escapeInvisible(text)}\n(Enter on an empty line sends it)`));
    },
    setCompleter(given) {
      completer = given;
      ear.setCompleter(given);
    },
    setHistory: (entries) => ear.setHistory(entries),
    async suspendFor(work) {
      ear.close();
      try {
        return await work();
      } finally {
        prompted = false;
        ear = createPlainInput(input, output, lineEditing, events);
        if (completer !== undefined) ear.setCompleter(completer);
        promptSoon();
      }
    },
    async close() {
      if (closed) return;
      closed = true;
      clearTimeout(prompting);
      clearTimeout(slow);
      reader?.takeLine(undefined);
      voice.write('');
      ear.close();
      // What was said must be out before the program may end.
      await new Promise<void>((done) => void output.write('', () => done()));
    },
  };
}

function formatChoice({ label, description }: UiChoice): string {
  return escapeInvisible(description === undefined ? label : `${label}  ${description}`);
}
