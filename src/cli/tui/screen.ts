// The screen: a transcript that scrolls away, an entry field at the bottom, and a status line under it.
import { isKeyRelease, matchesKey } from '@earendil-works/pi-tui';
import type { UiChoice, Completer, TerminalUI, UserAction, KeyQuestion } from './ui.ts';
import { Display } from './display.ts';
import { createInputField, type InputField } from './input-field.ts';
import { createFooter, type FooterState } from './footer.ts';
import { createHighlighter } from './highlight.ts';
import { createKeyListener, stripC1Controls } from './keys.ts';
import { createLayoutStyle } from './layout.ts';
import { createTextStyles } from './ansi-style.ts';
import { pickPanel, questionPanel, textPanel, type Panel } from './panels.ts';
import { MIN_VISIBLE_MS, MIN_IDLE_MS } from './answer-delay.ts';
import { restoreTerminalOnExit } from './restore-terminal.ts';
import { suspendProcess } from './suspend.ts';
import { createScreenTranscript } from './transcript.ts';
import { formatChoices } from './format.ts';

const FRAME_MS = 30;
const SPINNER_MS = 100;
const UNFOLDED_LINES = 500;

type OpenPanel = {
  readonly panel: Panel;
  readonly since: number;
  readonly dismiss: () => void;
  /** Whether what is typed from now on is for it. */
  armed: boolean;
};

/** Opens the screen on the program's own terminal. */
export function createScreenUi(options: { readonly colors: boolean }): TerminalUI {
  const paint = createTextStyles(options.colors ? 'colors' : 'attributes');
  let frame: NodeJS.Timeout | undefined;
  let hinting: NodeJS.Timeout | undefined;
  let spinning: NodeJS.Timeout | undefined;
  let listener: ((heard: UserAction) => void | Promise<void>) | undefined;
  let early: UserAction[] = [];
  let panel: OpenPanel | undefined;
  let queue: Promise<unknown> = Promise.resolve();
  let keyAt = 0;
  let asked = 0;
  let closed = false;
  const entries: string[] = [];

  const style = createLayoutStyle(
    paint,
    createHighlighter(paint, () => {
      transcript.relayout();
      soon();
    }),
  );
  const transcript = createScreenTranscript(style);
  const state: FooterState = {
    status: undefined,
    busySince: 0,
    hint: undefined,
    body: [],
    isAsking: false,
    hidden: false,
  };
  const display = new Display(transcript, createFooter(state, paint));
  const field: InputField = createInputField(display, paint, (text) => send(text, 'enter'));
  state.body = [field];

  // Many changes, one frame: streams come faster than anyone reads.
  function soon(): void {
    frame ??= setTimeout(() => {
      frame = undefined;
      if (!closed) display.requestRender();
    }, FRAME_MS);
  }

  function hear(heard: UserAction): void {
    if (listener !== undefined) void listener(heard);
    // Nobody listens before the conversation has begun: whoever wants to leave must be able to.
    else if (heard.type === 'quit') process.kill(process.pid, 'SIGINT');
    else early.push(heard);
  }

  function send(text: string, how: 'enter' | 'follow-up'): void {
    const entry = text.trim();
    if (entry === '') return;
    entries.push(entry);
    field.addToHistory(entry);
    hear({ type: 'submit', text: entry, how });
  }

  function hint(text: string): void {
    clearTimeout(hinting);
    state.hint = text;
    hinting = setTimeout(() => {
      state.hint = undefined;
      soon();
    }, 2000);
    display.requestRender();
  }

  function show(opened: Panel | undefined): void {
    state.isAsking = opened !== undefined;
    state.body = opened === undefined ? [field] : opened.keepsField ? [opened, field] : [opened];
    display.setFocus(opened === undefined || opened.keepsField ? field : opened);
    soon();
  }

  const onKey = createKeyListener({
    isBusy: () => state.status?.busy !== undefined,
    isSuggesting: () => field.editor.isShowingAutocomplete(),
    text: () => field.text(),
    takeText: () => field.takeText(),
    emit: hear,
    send,
    showHint: hint,
    toggleFold() {
      style.unfolded = !style.unfolded;
      transcript.relayout();
      display.redraw(style.unfolded ? UNFOLDED_LINES : undefined);
    },
    openHistory: () => void lookBack(),
    suspend: () => suspendProcess(display),
    redraw: () => display.redraw(),
  });

  display.addInputListener((data) => {
    // The release of the Enter that sent an entry must not answer the question it led to.
    if (isKeyRelease(data)) return undefined;
    const taken = panel !== undefined && toPanel(panel, data);
    keyAt = Date.now();
    if (!taken && matchesKey(data, 'enter')) field.closeStaleSuggestions();
    if (!taken && !onKey(data)) return { data: stripC1Controls(data) };
    display.requestRender();
    return { consume: true };
  });

  function toPanel(opened: OpenPanel, data: string): boolean {
    const { keepsField, ownsField, handleKey } = opened.panel;
    // A field that was empty when the question could be read belongs to the answer from then on.
    opened.armed = (opened.armed && ownsField === true) || isArmed(opened.since, data);
    if (keepsField && !opened.armed) return false;
    if (!matchesKey(data, 'ctrl+c')) return handleKey(data);
    opened.dismiss();
    if (state.status?.busy !== undefined) hear({ type: 'interrupt' });
    return true;
  }

  // What belongs to a draft, however slowly it is typed, is never an answer: only Esc is, which writes nothing.
  function isArmed(since: number, data: string): boolean {
    if (field.text() !== '' && !matchesKey(data, 'escape')) return false;
    return Date.now() - since >= MIN_VISIBLE_MS && Date.now() - keyAt >= MIN_IDLE_MS;
  }

  async function lookBack(): Promise<void> {
    const past = [...new Set(entries.toReversed())].slice(0, 200);
    if (past.length === 0) return;
    const taken = await pick(
      'Earlier entries',
      past.map((value) => ({ value, label: value.replaceAll('\n', ' ⏎ ') })),
    );
    if (taken !== undefined) field.setText(taken);
  }

  // One panel at a time, in the order they were asked for; leaving or aborting gives `otherwise`.
  function open<T>(
    otherwise: T,
    signal: AbortSignal | undefined,
    panelOf: (give: (value: T) => void) => Panel,
  ): Promise<T> {
    const turn = queue.then(
      () =>
        new Promise<T>((resolve) => {
          if (closed || signal?.aborted === true) return resolve(otherwise);
          const give = (value: T): void => {
            signal?.removeEventListener('abort', leave);
            panel = undefined;
            show(undefined);
            resolve(value);
          };
          const leave = (): void => give(otherwise);
          signal?.addEventListener('abort', leave);
          panel = { panel: panelOf(give), since: Date.now(), dismiss: leave, armed: false };
          show(panel.panel);
        }),
    );
    queue = turn.catch(() => undefined);
    return turn;
  }

  // The answer takes the place of the question; of one that has begun to scroll away it stands below.
  function answered(id: string, text: string): void {
    transcript.putBlock({ type: 'notice', id: transcript.isScrolled(id) ? `${id} answer` : id, level: 'info', text });
  }

  function ask(question: KeyQuestion, signal?: AbortSignal): Promise<string> {
    return open(question.defaultKey, signal, (done) => {
      const id = `question ${(asked += 1)}`;
      const { title, detail: text } = question;
      if (text !== undefined) transcript.putBlock({ type: 'page', id, title, text });
      return questionPanel(
        question,
        paint,
        () => field.text() !== '',
        (key) => {
          answered(id, `${title} ${question.keys.find((one) => one.key === key)?.label ?? key}`);
          done(key);
        },
      );
    });
  }

  function words(title: string, choices: readonly string[], signal?: AbortSignal): Promise<string | undefined> {
    return open<string | undefined>(undefined, signal, (done) => {
      const id = `question ${(asked += 1)}`;
      transcript.putBlock({ type: 'page', id, text: [title, ...formatChoices(choices)].join('\n') });
      return textPanel(
        { title, choices },
        paint,
        field,
        () => panel?.armed === true,
        (answer) => {
          answered(id, `${title} ${answer ?? '(not answered)'}`);
          done(answer);
        },
      );
    });
  }

  function pick(title: string, choices: readonly UiChoice[], signal?: AbortSignal): Promise<string | undefined> {
    return open<string | undefined>(undefined, signal, (done) => pickPanel(title, choices, paint, done));
  }

  const letGo = restoreTerminalOnExit(() => display.stop());
  display.setFocus(field);
  display.start();

  return {
    putBlock(block) {
      transcript.putBlock(block);
      soon();
    },
    appendText(id, text) {
      transcript.appendText(id, text);
      soon();
    },
    removeBlock(id) {
      transcript.removeBlock(id);
      soon();
    },
    clear() {
      // Some terminals keep what is cleared: the transcript may stay there, a field that nobody can use may not.
      state.hidden = true;
      display.renderNow();
      state.hidden = false;
      transcript.clear();
      display.redraw();
    },
    setStatus(status) {
      if (status.busy !== state.status?.busy) state.busySince = Date.now();
      state.status = status;
      if (status.busy === undefined) {
        clearInterval(spinning);
        spinning = undefined;
      } else spinning ??= setInterval(soon, SPINNER_MS);
      soon();
    },
    onAction(heard) {
      listener = heard;
      const waiting = early;
      early = [];
      for (const one of waiting) void heard(one);
    },
    askKey: ask,
    pick,
    askText: words,
    setInput(text) {
      field.setText(text);
      soon();
    },
    setCompleter: (completer: Completer) => field.setCompleter(completer),
    setHistory(past) {
      entries.unshift(...past);
      for (const entry of past.slice(-100)) field.addToHistory(entry);
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
      clearTimeout(frame);
      clearTimeout(hinting);
      clearInterval(spinning);
      await display.terminal.drainInput(200, 20);
      display.stop();
      letGo();
    },
  };
}
