// The plain UI: prints lines in order and redraws nothing, for screen readers, dumb terminals and pipes.
import type { Completer, TerminalUI, UserAction } from './ui.ts';
import { escapeInvisible } from '../../core/index.ts';
import { createTextStyles } from './ansi-style.ts';
import { pickByLine } from './plain-pick.ts';
import { createPlainInput, type PlainInput, type PlainInputEvents } from './plain-input.ts';
import { createWaitingNotice } from './waiting-notice.ts';
import { createPlainOutput } from './plain-output.ts';
import { createSerialQueue, MIN_VISIBLE_MS } from './question-queue.ts';
import {
  findAnsweredKey,
  parseChoiceAnswer,
  formatChoices,
  formatChoicePrompt,
  formatQuestionChoices,
  isStrayNumber,
  formatStatusLine,
  formatUiChoice,
} from './format.ts';
import type { ConversationStatus } from '../../coding-agent/index.ts';

/** The streams of the plain UI, and whether it may use colors and escape sequences. */
export type PlainUiOptions = {
  readonly input: NodeJS.ReadStream;
  readonly output: NodeJS.WriteStream;
  readonly colors: boolean;
  /** Whether to edit lines with history and completion, which needs escape sequences. */
  readonly lineEditing: boolean;
};

const QUIT_WINDOW_MS = 2000;

type LineReader = { readonly since: number; readonly takeLine: (line: string | undefined) => boolean };

const indentText = (text: string): string => `  ${text.replaceAll('\n', '\n  ')}`;

/** Opens the plain UI. */
export function createPlainUi({ input, output, colors, lineEditing }: PlainUiOptions): TerminalUI {
  const isTerminal = input.isTTY && output.isTTY;
  const printer = createPlainOutput((text) => void output.write(text), createTextStyles(colors ? 'colors' : 'none'));
  const pending: string[] = [];
  const echoed: string[] = [];
  const inOrder = createSerialQueue();
  let listener: ((action: UserAction) => void | Promise<void>) | undefined;
  let reader: LineReader | undefined;
  let cancelListener: (() => void) | undefined;
  let status: ConversationStatus | undefined;
  let printedStatus = '';
  let activeHandlers = 0;
  let ended = false;
  let closed = false;
  let prompted = false;
  let continuedLines = '';
  let draft = '';
  let prefill = '';
  let interruptedAt = 0;
  let completer: Completer | undefined;
  let promptTimer: NodeJS.Timeout | undefined;
  const waitingNotice = createWaitingNotice((text) => reader ?? printer.printLine(text));

  const idle = (): boolean => listener !== undefined && activeHandlers === 0 && status?.busy === undefined && !reader;

  function emit(action: UserAction): void {
    const done = listener?.(action);
    if (done === undefined) return;
    activeHandlers += 1;
    void done.finally(() => {
      activeHandlers -= 1;
      processPending();
    });
  }

  // With piped input the next line waits until the previous one is handled; a line typed at a terminal is handled at once.
  function processPending(): void {
    const line = listener !== undefined && (isTerminal || idle()) ? pending.shift() : undefined;
    if (line !== undefined) {
      const text = line.trim() === '' ? draft : line;
      draft = '';
      // The terminal has echoed the line already, so its block is not printed again.
      if (isTerminal) echoed.splice(0, Math.max(0, echoed.push(text) - 10));
      if (text !== '') emit({ type: 'submit', text, how: 'enter' });
      setImmediate(processPending);
    }
    if (ended && pending.length === 0 && (isTerminal || idle())) quit();
    promptSoon();
  }

  function quit(): void {
    if (closed || listener === undefined) return;
    ended = false;
    emit({ type: 'quit' });
  }

  // There is no listener before the conversation has started, but the user must be able to quit.
  function quitByDefault(): void {
    lineInput.close();
    process.kill(process.pid, 'SIGINT');
  }

  function promptSoon(): void {
    if (!isTerminal || closed) return;
    clearTimeout(promptTimer);
    promptTimer = setTimeout(() => {
      if (!idle() || prompted || ended) return;
      const parts = status === undefined ? '' : formatStatusLine(status, output.columns - 9, (text) => text.length);
      if (parts !== printedStatus) printer.printLine(`[status] ${parts}`);
      printedStatus = parts;
      showPrompt('> ');
      // Written earlier it would appear before the prompt.
      if (prefill !== '') lineInput.write(prefill);
      prefill = '';
    }, 30);
  }

  function showPrompt(prompt: string): void {
    prompted = true;
    if (!lineEditing) return printer.write(prompt);
    printer.write('');
    lineInput.prompt(prompt);
  }

  // Text that is printed while a prompt is shown starts on a new line, and the prompt is shown again after it.
  function printAbovePrompt(print: () => void): void {
    if (prompted && reader === undefined) {
      prompted = false;
      // With line editing the prompt is not written through the printer, which does not know the cursor position.
      printer.write(lineEditing ? '\n' : '');
    }
    print();
    promptSoon();
  }

  const events: PlainInputEvents = {
    line(text) {
      printer.markLineStart();
      prompted = false;
      if (
        reader !== undefined &&
        Date.now() - reader.since >= (isTerminal ? MIN_VISIBLE_MS : 0) &&
        reader.takeLine(text)
      )
        return;
      if (text.endsWith('\\')) {
        continuedLines += `${text.slice(0, -1)}\n`;
        return;
      }
      pending.push(continuedLines + text);
      continuedLines = '';
      processPending();
    },
    end() {
      ended = true;
      reader?.takeLine(undefined);
      processPending();
    },
    interrupt(hadDraft) {
      printer.markLineStart();
      prompted = false;
      const busy = status?.busy !== undefined;
      reader?.takeLine(undefined);
      if (busy) return emit({ type: 'interrupt' });
      if (listener === undefined && cancelListener !== undefined) return cancelListener();
      if (hadDraft) return promptSoon();
      if (Date.now() - interruptedAt < QUIT_WINDOW_MS) return listener === undefined ? quitByDefault() : quit();
      interruptedAt = Date.now();
      printAbovePrompt(() => printer.printLine('(press Ctrl+C again to quit)'));
    },
    escape() {
      if (reader !== undefined) reader.takeLine(undefined);
      else if (status?.busy !== undefined) emit({ type: 'interrupt' });
      else if (listener === undefined) cancelListener?.();
    },
    toggleApproval: () => emit({ type: 'toggle-approval' }),
  };
  let lineInput: PlainInput = createPlainInput(input, output, lineEditing, events);

  // Reads a line as the answer to a question; `parse` returns 'not mine' for a line that is not an answer.
  function readAnswer<T>(
    prompt: string,
    fallback: T,
    signal: AbortSignal | undefined,
    parse: (line: string) => T | 'again' | 'not mine',
  ): Promise<T> {
    return new Promise((resolve) => {
      const draftText = lineInput.takeText();
      const end = (value: T): void => {
        reader = undefined;
        signal?.removeEventListener('abort', stop);
        if (draftText !== '') lineInput.write(draftText);
        resolve(value);
        processPending();
      };
      const stop = (): void => end(fallback);
      if (signal?.aborted === true || (ended && pending.length === 0)) return stop();
      signal?.addEventListener('abort', stop);
      const takeLine = (line: string | undefined): boolean => {
        if (line === undefined) return (stop(), true);
        const value = parse(line.trim());
        prompted = false;
        // A piped line is not echoed by a terminal.
        if (!isTerminal) printer.endLine(value === 'not mine' ? '' : escapeInvisible(line));
        if (value === 'again') return (showPrompt(prompt), true);
        end(value === 'not mine' ? fallback : value);
        return value !== 'not mine';
      };
      reader = { since: Date.now(), takeLine };
      showPrompt(prompt);
      const next = isTerminal ? undefined : pending[0];
      if (next !== undefined && takeLine(next)) pending.shift();
    });
  }

  const printQuestion = (title: string, choices: readonly string[]): void =>
    printAbovePrompt(() => printer.printLine([escapeInvisible(title), ...formatChoices(choices)].join('\n')));

  const askText: TerminalUI['askText'] = (title, choices, signal) =>
    inOrder(() => {
      printQuestion(title, choices.map(escapeInvisible));
      const prompt = `${choices.length > 0 ? 'a number or your own answer' : 'your answer'}, empty to skip: `;
      return readAnswer(prompt, undefined, signal, (line) => parseChoiceAnswer(line, choices));
    });

  return {
    putBlock(block) {
      const typed = block.type === 'user' ? echoed.indexOf(block.text) : -1;
      if (typed >= 0) return void echoed.splice(typed, 1);
      printAbovePrompt(() => printer.printBlock(block));
    },
    appendText(id, text) {
      // The notice is for a silent wait, and does not split an answer that arrives.
      waitingNotice.refresh();
      printAbovePrompt(() => printer.appendText(id, text));
    },
    removeBlock: (id) => printAbovePrompt(() => printer.removeBlock(id)),
    clear: () => undefined,
    setStatus(newStatus) {
      const { busy } = newStatus;
      if (busy !== status?.busy) waitingNotice.stop();
      if (busy !== status?.busy && busy !== undefined && isTerminal)
        waitingNotice.start(`[waiting] ${escapeInvisible(busy)}`);
      status = newStatus;
      processPending();
    },
    onAction(newListener) {
      listener = newListener;
      processPending();
    },
    onCancel(newListener) {
      cancelListener = newListener;
    },
    askKey: (question, signal) =>
      inOrder(() => {
        printAbovePrompt(() => {
          printer.printLine(escapeInvisible(question.title));
          const { detail, isPreview = false } = question;
          if (detail !== undefined)
            printer.printBlock({ type: 'output', id: 'question', text: indentText(detail), isPreview });
          for (const choice of formatQuestionChoices(question)) printer.printLine(`  ${choice}`);
        });
        return readAnswer(formatChoicePrompt(question), question.defaultKey, signal, (line) => {
          const key = findAnsweredKey(question, line);
          if (key !== undefined) return key;
          // A piped line was written without knowing the question, so it is the next input and not a reply.
          if (!isTerminal) return 'not mine';
          if (question.onReply === undefined || isStrayNumber(question, line)) return 'again';
          question.onReply(line);
          return question.defaultKey;
        });
      }),
    pick: (title, choices, { signal, search } = {}) =>
      inOrder(() =>
        pickByLine(choices, {
          print: (shown) => printQuestion(title, shown.map(formatUiChoice)),
          read: (prompt, parse) => readAnswer<string | undefined>(prompt, undefined, signal, parse),
          // A piped line was written without knowing the list, so it is not searched for.
          ...(search && isTerminal ? { search, signal } : {}),
        }),
      ),
    // A piped line was written without knowing the question, so it is not an answer.
    ...(isTerminal ? { askText } : {}),
    setInput(text) {
      if (lineEditing && !text.includes('\n')) {
        if (prompted) return lineInput.write(text);
        prefill = text;
        return promptSoon();
      }
      draft = text;
      printAbovePrompt(() => printer.printLine(`[draft] ${escapeInvisible(text)}\n(Enter on an empty line sends it)`));
    },
    insertInput: (text) => lineInput.write(text),
    setCompleter(newCompleter) {
      completer = newCompleter;
      lineInput.setCompleter(newCompleter);
    },
    setHistory: (entries) => lineInput.setHistory(entries),
    async suspendFor(work) {
      lineInput.close();
      try {
        return await work();
      } finally {
        prompted = false;
        lineInput = createPlainInput(input, output, lineEditing, events);
        if (completer !== undefined) lineInput.setCompleter(completer);
        promptSoon();
      }
    },
    async close() {
      if (closed) return;
      closed = true;
      clearTimeout(promptTimer);
      waitingNotice.stop();
      reader?.takeLine(undefined);
      printer.write('');
      lineInput.close();
      // The output must be flushed before the program may exit.
      await new Promise<void>((done) => void output.write('', () => done()));
    },
  };
}
