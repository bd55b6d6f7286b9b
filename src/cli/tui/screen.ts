// The full-screen UI: a scrolling transcript, an input field at the bottom, and a status line below it.
import { isKeyRelease, matchesKey } from '@earendil-works/pi-tui';
import type { TerminalUI, UserAction, KeyQuestion } from './ui.ts';
import { Display } from './display.ts';
import { createInputField, type InputField } from './input-field.ts';
import { createFooter, createFooterState } from './footer.ts';
import { createHighlighter } from './highlight.ts';
import { createKeyListener, stripC1Controls } from './keys.ts';
import { createLayoutStyle } from './layout.ts';
import { createThemedStyles, type Theme } from './ansi-style.ts';
import { createNotifier, type NotifierOptions } from './notifier.ts';
import { questionPanel, textPanel, type OpenPanel, type Panel } from './panels.ts';
import { pickPanel } from './pick-panel.ts';
import { createSerialQueue, MIN_IDLE_MS, MIN_VISIBLE_MS } from './question-queue.ts';
import { restoreTerminalOnExit } from './restore-terminal.ts';
import { suspendProcess } from './suspend.ts';
import { createScreenTranscript } from './transcript.ts';
import { formatChoices, formatHistoryChoices } from './format.ts';

const FRAME_MS = 30;
const SPINNER_MS = 100;
const UNFOLDED_LINES = 500;

/** The colors of the screen, whether it shows reasoning at first, and how it notifies. */
type ScreenOptions = { readonly theme: Theme; readonly showsReasoning: boolean; readonly notifier: NotifierOptions };

/** Opens the screen on the terminal of the process. */
export function createScreenUi(options: ScreenOptions): TerminalUI {
  const { styles, setTheme } = createThemedStyles(options.theme);
  const notifier = createNotifier(options.notifier, (text) => display.terminal.write(text));
  let frameTimer: NodeJS.Timeout | undefined;
  let hintTimer: NodeJS.Timeout | undefined;
  let spinnerTimer: NodeJS.Timeout | undefined;
  let listener: ((action: UserAction) => void | Promise<void>) | undefined;
  let queuedActions: UserAction[] = [];
  let cancelListener: (() => void) | undefined;
  let panel: OpenPanel | undefined;
  let lastKeyAt = 0;
  let questionCount = 0;
  let closed = false;
  const history: string[] = [];
  const inOrder = createSerialQueue();

  const style = createLayoutStyle(
    styles,
    createHighlighter(styles, () => {
      transcript.relayout();
      renderSoon();
    }),
  );
  style.hidesReasoning = !options.showsReasoning;
  const transcript = createScreenTranscript(style);
  const state = createFooterState();
  const display = new Display(transcript, createFooter(state, styles), notifier);
  const field: InputField = createInputField(display, styles, (text) => send(text, 'enter'));
  state.body = [field];

  // Combines the changes of a frame: streams change faster than the screen should be drawn.
  function renderSoon(): void {
    frameTimer ??= setTimeout(() => {
      frameTimer = undefined;
      if (!closed) display.requestRender();
    }, FRAME_MS);
  }

  function draw(change: () => void): void {
    change();
    renderSoon();
  }

  function emit(action: UserAction): void {
    if (listener !== undefined) void listener(action);
    else if (cancelListener !== undefined && (action.type === 'interrupt' || action.type === 'quit')) cancelListener();
    // There is no listener before the conversation has started, but the user must be able to quit.
    else if (action.type === 'quit') process.kill(process.pid, 'SIGINT');
    else queuedActions.push(action);
  }

  function send(text: string, how: 'enter' | 'follow-up'): void {
    const input = text.trim();
    if (input === '') return;
    history.push(input);
    field.addToHistory(input);
    emit({ type: 'submit', text: input, how });
  }

  function showHint(text: string): void {
    clearTimeout(hintTimer);
    state.hint = text;
    hintTimer = setTimeout(() => {
      state.hint = undefined;
      renderSoon();
    }, 2000);
    display.requestRender();
  }

  function showPanel(opened: Panel | undefined): void {
    state.isAsking = opened !== undefined;
    state.body = opened === undefined ? [field] : opened.keepsField ? [opened, field] : [opened];
    display.setFocus(opened === undefined || opened.keepsField ? field : opened);
    renderSoon();
  }

  const onKey = createKeyListener({
    isBusy: () => state.status?.busy !== undefined || (listener === undefined && cancelListener !== undefined),
    isSuggesting: () => field.editor.isShowingAutocomplete(),
    text: () => field.text(),
    takeText: () => field.takeText(),
    emit,
    send,
    showHint,
    toggleFold() {
      style.unfolded = !style.unfolded;
      transcript.relayout();
      display.redraw(style.unfolded ? UNFOLDED_LINES : undefined);
    },
    toggleReasoning() {
      style.hidesReasoning = !style.hidesReasoning;
      transcript.relayout();
      display.redraw();
      showHint(style.hidesReasoning ? 'reasoning is hidden' : 'reasoning is shown');
    },
    openHistory: () => void pickFromHistory(),
    suspend: () => suspendProcess(display),
    redraw: () => display.redraw(),
  });

  display.addInputListener((data) => {
    // The key release of the Enter that submitted a text must not answer the question that follows.
    if (isKeyRelease(data)) return undefined;
    if (notifier.handleInput(data)) return { consume: true };
    const handled = panel !== undefined && sendToPanel(panel, data);
    lastKeyAt = Date.now();
    if (!handled && matchesKey(data, 'enter')) field.closeStaleSuggestions();
    if (!handled && !onKey(data)) return { data: stripC1Controls(data) };
    display.requestRender();
    return { consume: true };
  });

  function sendToPanel(opened: OpenPanel, data: string): boolean {
    const { keepsField, ownsField, handleKey } = opened.panel;
    // If the field was empty when the user could read the question, text typed from then on is the answer.
    opened.armed = (opened.armed && ownsField === true) || isArmed(opened.since, data);
    if (keepsField && !opened.armed) return false;
    if (!matchesKey(data, 'ctrl+c')) return handleKey(data);
    // The first Ctrl+C clears a text that was typed for the panel.
    if (keepsField && field.text() !== '') return false;
    opened.dismiss();
    if (state.status?.busy !== undefined) emit({ type: 'interrupt' });
    return true;
  }

  // Keys typed into a draft never answer a question, except Esc, which types nothing.
  function isArmed(since: number, data: string): boolean {
    if (field.text() !== '' && !matchesKey(data, 'escape')) return false;
    return Date.now() - since >= MIN_VISIBLE_MS && Date.now() - lastKeyAt >= MIN_IDLE_MS;
  }

  async function pickFromHistory(): Promise<void> {
    const choices = formatHistoryChoices(history);
    const picked = choices.length === 0 ? undefined : await pick('Earlier inputs', choices);
    if (picked !== undefined) field.setText(picked);
  }

  // Opens one panel at a time, in the order of the calls; a dismissed or aborted panel gives `fallback`.
  function openPanel<T>(
    fallback: T,
    title: string,
    signal: AbortSignal | undefined,
    createPanel: (close: (value: T) => void) => Panel,
  ): Promise<T> {
    return inOrder(async () => {
      if (closed || signal?.aborted === true) return fallback;
      const { promise, resolve } = Promise.withResolvers<T>();
      const close = (value: T): void => {
        signal?.removeEventListener('abort', dismiss);
        panel = undefined;
        showPanel(undefined);
        resolve(value);
      };
      const dismiss = (): void => close(fallback);
      signal?.addEventListener('abort', dismiss);
      panel = { panel: createPanel(close), since: Date.now(), dismiss, armed: false };
      showPanel(panel.panel);
      notifier.questionOpened(title);
      return promise;
    });
  }

  // The answer replaces the question in the transcript, or is put below a question that has started to scroll off.
  function showAnswer(id: string, text: string): void {
    transcript.putBlock({ type: 'notice', id: transcript.isScrolled(id) ? `${id} answer` : id, level: 'info', text });
  }

  function askKey(question: KeyQuestion, signal?: AbortSignal): Promise<string> {
    return openPanel(question.defaultKey, question.title, signal, (done) => {
      const id = `question ${(questionCount += 1)}`;
      const { title, detail: text, isPreview } = question;
      if (text !== undefined)
        transcript.putBlock({ type: 'output', id, text, ...(isPreview ? { isPreview } : { title }) });
      return questionPanel(
        question,
        styles,
        field,
        () => panel?.armed === true,
        (key, reply) => {
          const label = question.keys.find((each) => each.key === key)?.label ?? key;
          if (question.hidesAnswer && !transcript.isScrolled(id)) transcript.removeBlock(id);
          else if (!question.hidesAnswer) showAnswer(id, `${title} ${reply ?? label}`);
          if (reply !== undefined) question.onReply?.(reply);
          done(key);
        },
      );
    });
  }

  function askText(title: string, choices: readonly string[], signal?: AbortSignal): Promise<string | undefined> {
    return openPanel<string | undefined>(undefined, title, signal, (done) => {
      const id = `question ${(questionCount += 1)}`;
      transcript.putBlock({ type: 'output', id, text: [title, ...formatChoices(choices)].join('\n') });
      return textPanel(
        { title, choices },
        styles,
        field,
        () => panel?.armed === true,
        (answer) => {
          showAnswer(id, `${title} ${answer ?? '(not answered)'}`);
          done(answer);
        },
      );
    });
  }

  const pick: TerminalUI['pick'] = (title, choices, { signal, ...options } = {}) =>
    openPanel<string | undefined>(undefined, title, signal, (done) =>
      pickPanel(title, choices, { ...options, styles, render: renderSoon, done }),
    );

  const removeExitHandlers = restoreTerminalOnExit(() => display.stop());
  display.setFocus(field);
  display.start();

  return {
    putBlock: (block) => draw(() => transcript.putBlock(block)),
    appendText: (id, text) => draw(() => transcript.appendText(id, text)),
    removeBlock: (id) => draw(() => transcript.removeBlock(id)),
    clear() {
      // Some terminals move the cleared screen to the scrollback: hide the footer there, since it no longer works.
      state.hidden = true;
      display.renderNow();
      state.hidden = false;
      transcript.clear();
      display.redraw();
    },
    setStatus(status) {
      notifier.setBusy(status.busy !== undefined);
      if (status.busy !== state.status?.busy) state.busySince = Date.now();
      state.status = status;
      if (status.busy === undefined) {
        clearInterval(spinnerTimer);
        spinnerTimer = undefined;
      } else spinnerTimer ??= setInterval(renderSoon, SPINNER_MS);
      renderSoon();
    },
    onAction(newListener) {
      listener = newListener;
      const queued = queuedActions;
      queuedActions = [];
      for (const action of queued) void newListener(action);
    },
    onCancel(newListener) {
      cancelListener = newListener;
    },
    askKey,
    pick,
    askText,
    setInput(text) {
      field.setText(text);
      renderSoon();
    },
    insertInput: (text) => draw(() => field.insert(text)),
    setTheme(theme) {
      setTheme(theme);
      transcript.relayout();
      display.redraw();
    },
    setCompleter: (completer) => field.setCompleter(completer),
    setHistory(earlier) {
      history.unshift(...earlier);
      for (const input of earlier.slice(-100)) field.addToHistory(input);
    },
    async suspendFor(work) {
      display.stop();
      try {
        return await work();
      } finally {
        display.start();
        display.redraw();
      }
    },
    async close() {
      if (closed) return;
      panel?.dismiss();
      state.hidden = true;
      display.renderNow();
      closed = true;
      clearTimeout(frameTimer);
      clearTimeout(hintTimer);
      clearInterval(spinnerTimer);
      await display.terminal.drainInput(200, 20);
      display.stop();
      removeExitHandlers();
    },
  };
}
