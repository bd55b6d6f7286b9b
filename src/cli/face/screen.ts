// The screen: a transcript that scrolls away, an entry field at the bottom, and a status line under it.
import { isKeyRelease, matchesKey } from '@earendil-works/pi-tui';
import type { Choice, Completer, Face, Heard, Question } from './face.ts';
import { Display } from './display.ts';
import { fieldOf, type Field } from './field.ts';
import { footOf, type FootState } from './foot.ts';
import { highlighterOf } from './highlight.ts';
import { keysOf, withoutC1 } from './keys.ts';
import { styleOf } from './layout.ts';
import { paintOf } from './paint.ts';
import { pickPanel, questionPanel, wordsPanel, type Panel } from './panels.ts';
import { SEEN_MS, STILL_MS } from './readiness.ts';
import { restoreOnEnd } from './restore.ts';
import { suspend } from './suspend.ts';
import { transcriptOf } from './transcript.ts';
import { choiceLines } from './wording.ts';

const FRAME_MS = 30;
const SPIN_MS = 100;
const UNFOLDED_LINES = 500;

type Opened = {
  readonly panel: Panel;
  readonly since: number;
  readonly leave: () => void;
  /** Whether what is typed from now on is for it. */
  armed: boolean;
};

/** Opens the screen on the program's own terminal. */
export function screenFace(options: { readonly colours: boolean }): Face {
  const paint = paintOf(options.colours ? 'colours' : 'weights');
  let frame: NodeJS.Timeout | undefined;
  let hinting: NodeJS.Timeout | undefined;
  let spinning: NodeJS.Timeout | undefined;
  let listener: ((heard: Heard) => void | Promise<void>) | undefined;
  let early: Heard[] = [];
  let panel: Opened | undefined;
  let queue: Promise<unknown> = Promise.resolve();
  let keyAt = 0;
  let asked = 0;
  let closed = false;
  const entries: string[] = [];

  const style = styleOf(
    paint,
    highlighterOf(paint, () => {
      transcript.relayout();
      soon();
    }),
  );
  const transcript = transcriptOf(style);
  const state: FootState = { status: undefined, busySince: 0, hint: undefined, body: [], asks: false, gone: false };
  const display = new Display(transcript, footOf(state, paint));
  const field: Field = fieldOf(display, paint, (text) => send(text, 'enter'));
  state.body = [field];

  // Many changes, one frame: streams come faster than anyone reads.
  function soon(): void {
    frame ??= setTimeout(() => {
      frame = undefined;
      if (!closed) display.requestRender();
    }, FRAME_MS);
  }

  function hear(heard: Heard): void {
    if (listener !== undefined) void listener(heard);
    // Nobody listens before the conversation has begun: whoever wants to leave must be able to.
    else if (heard.type === 'quit') process.kill(process.pid, 'SIGINT');
    else early.push(heard);
  }

  function send(text: string, how: 'enter' | 'follow-up'): void {
    const entry = text.trim();
    if (entry === '') return;
    entries.push(entry);
    field.remember(entry);
    hear({ type: 'line', text: entry, how });
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
    state.asks = opened !== undefined;
    state.body = opened === undefined ? [field] : opened.keepsField ? [opened, field] : [opened];
    display.setFocus(opened === undefined || opened.keepsField ? field : opened);
    soon();
  }

  const onKey = keysOf({
    busy: () => state.status?.busy !== undefined,
    suggesting: () => field.editor.isShowingAutocomplete(),
    text: () => field.text(),
    take: () => field.take(),
    hear,
    send,
    hint,
    fold() {
      style.unfolded = !style.unfolded;
      transcript.relayout();
      display.redraw(style.unfolded ? UNFOLDED_LINES : undefined);
    },
    history: () => void lookBack(),
    suspend: () => suspend(display),
    redraw: () => display.redraw(),
  });

  display.addInputListener((data) => {
    // The release of the Enter that sent an entry must not answer the question it led to.
    if (isKeyRelease(data)) return undefined;
    const taken = panel !== undefined && toPanel(panel, data);
    keyAt = Date.now();
    if (!taken && matchesKey(data, 'enter')) field.settle();
    if (!taken && !onKey(data)) return { data: withoutC1(data) };
    display.requestRender();
    return { consume: true };
  });

  function toPanel(opened: Opened, data: string): boolean {
    const { keepsField, takesField, key } = opened.panel;
    // A field that was empty when the question could be read belongs to the answer from then on.
    opened.armed = (opened.armed && takesField === true) || isArmed(opened.since, data);
    if (keepsField && !opened.armed) return false;
    if (!matchesKey(data, 'ctrl+c')) return key(data);
    opened.leave();
    if (state.status?.busy !== undefined) hear({ type: 'interrupt' });
    return true;
  }

  // What belongs to a draft, however slowly it is typed, is never an answer: only Esc is, which writes nothing.
  function isArmed(since: number, data: string): boolean {
    if (field.text() !== '' && !matchesKey(data, 'escape')) return false;
    return Date.now() - since >= SEEN_MS && Date.now() - keyAt >= STILL_MS;
  }

  async function lookBack(): Promise<void> {
    const past = [...new Set(entries.toReversed())].slice(0, 200);
    if (past.length === 0) return;
    const taken = await pick(
      'Earlier entries',
      past.map((value) => ({ value, label: value.replaceAll('\n', ' ⏎ ') })),
    );
    if (taken !== undefined) field.set(taken);
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
          panel = { panel: panelOf(give), since: Date.now(), leave, armed: false };
          show(panel.panel);
        }),
    );
    queue = turn.catch(() => undefined);
    return turn;
  }

  // The answer takes the place of the question; of one that has begun to scroll away it stands below.
  function answered(id: string, text: string): void {
    transcript.put({ type: 'notice', id: transcript.scrolled(id) ? `${id} answer` : id, level: 'info', text });
  }

  function ask(question: Question, signal?: AbortSignal): Promise<string> {
    return open(question.otherwise, signal, (done) => {
      const id = `question ${(asked += 1)}`;
      const { title, detail: text } = question;
      if (text !== undefined) transcript.put({ type: 'page', id, title, text });
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
      transcript.put({ type: 'page', id, text: [title, ...choiceLines(choices)].join('\n') });
      return wordsPanel(
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

  function pick(title: string, choices: readonly Choice[], signal?: AbortSignal): Promise<string | undefined> {
    return open<string | undefined>(undefined, signal, (done) => pickPanel(title, choices, paint, done));
  }

  const letGo = restoreOnEnd(() => display.stop());
  display.setFocus(field);
  display.start();

  return {
    put(block) {
      transcript.put(block);
      soon();
    },
    extend(id, text) {
      transcript.extend(id, text);
      soon();
    },
    drop(id) {
      transcript.drop(id);
      soon();
    },
    clear() {
      // Some terminals keep what is cleared: the transcript may stay there, a field that nobody can use may not.
      state.gone = true;
      display.renderNow();
      state.gone = false;
      transcript.clear();
      display.redraw();
    },
    status(status) {
      if (status.busy !== state.status?.busy) state.busySince = Date.now();
      state.status = status;
      if (status.busy === undefined) {
        clearInterval(spinning);
        spinning = undefined;
      } else spinning ??= setInterval(soon, SPIN_MS);
      soon();
    },
    listen(heard) {
      listener = heard;
      const waiting = early;
      early = [];
      for (const one of waiting) void heard(one);
    },
    ask,
    pick,
    words,
    fill(text) {
      field.set(text);
      soon();
    },
    complete: (completer: Completer) => field.complete(completer),
    remember(past) {
      entries.unshift(...past);
      for (const entry of past.slice(-100)) field.remember(entry);
    },
    async aside(work) {
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
      panel?.leave();
      state.gone = true;
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
