// The panels above the input field: a question with numbered choices, and a question with a text answer.
import { matchesKey, type Component } from '@earendil-works/pi-tui';
import { escapeInvisible } from '../../core/index.ts';
import type { KeyQuestion } from './ui.ts';
import type { InputField } from './input-field.ts';
import { wrapText } from './layout.ts';
import type { TextStyles } from './ansi-style.ts';
import {
  findAnsweredKey,
  formatQuestionChoices,
  formatQuestionKeys,
  isStrayNumber,
  parseChoiceAnswer,
} from './format.ts';

const REPLY_HINT = 'Enter denies this call and sends your text to the model · Ctrl+C clears the text';
const FIELD_NOT_EMPTY_HINT = 'Enter sends this text and the question stays open · Ctrl+C clears the text';
const DRAFT_HINT = 'The text in the input field is not the answer: Enter sends it, Ctrl+C clears it.';
const MAX_TITLE = 160;

/** A panel on the screen. */
export type OpenPanel = {
  readonly panel: Panel;
  readonly since: number;
  readonly dismiss: () => void;
  /** Whether the panel gets the keys typed from now on. */
  armed: boolean;
};

/** A panel handles the keys until it closes. */
export type Panel = Component & {
  /** Handles a key; returns false if the panel does not use it. */
  readonly handleKey: (data: string) => boolean;
  /** Whether the input field stays below the panel and gets the keys that the panel does not use. */
  readonly keepsField: boolean;
  /** Whether the text of the input field belongs to the panel, once the user could read the panel. */
  readonly ownsField?: boolean;
};

/** The numbered choices of a question; its subject is in the transcript. The field below takes a number, a letter or a reply, and Enter sends it. */
export function questionPanel(
  question: KeyQuestion,
  styles: TextStyles,
  field: InputField,
  armed: () => boolean,
  answer: (key: string, reply?: string) => void,
): Panel {
  const choices = formatQuestionChoices(question);
  const keyAt = (index: number): string => question.keys[index]?.key ?? question.defaultKey;
  const defaultIndex = Math.max(
    0,
    question.keys.findIndex(({ key }) => key === question.defaultKey),
  );
  let selected = defaultIndex;
  const typed = (): string => field.text().trim();
  // A draft from before the question is never read as a choice.
  const ownsText = (): boolean => armed() || typed() === '';
  const marked = (): number => {
    if (!ownsText()) return -1;
    const key = findAnsweredKey(question, typed());
    return typed() === '' ? selected : question.keys.findIndex((each) => each.key === key);
  };
  function hint(): string {
    if (!ownsText()) return DRAFT_HINT;
    if (isStrayNumber(question, typed())) return `There is no choice ${typed()}.`;
    const choiceHint = `↑↓ or a number, then Enter · Esc selects ${defaultIndex + 1}`;
    if (marked() >= 0) return question.onReply ? `${choiceHint} · or type a reply to the model` : choiceHint;
    return question.onReply && !isCommandLine(typed()) ? REPLY_HINT : FIELD_NOT_EMPTY_HINT;
  }
  function move(by: number): boolean {
    if (marked() < 0) return false;
    selected = (marked() + by + choices.length) % choices.length;
    if (typed() !== '') field.takeText();
    return true;
  }
  function enter(): boolean {
    const text = typed();
    const index = marked();
    if (index >= 0) {
      field.takeText();
      answer(keyAt(index));
      return true;
    }
    if (isStrayNumber(question, text)) return true;
    if (question.onReply === undefined || isCommandLine(text)) return false;
    field.takeText();
    answer(question.defaultKey, text);
    return true;
  }
  return {
    keepsField: true,
    ownsField: true,
    invalidate: () => undefined,
    render: (width) => [
      ...wrapText(
        `${styles.bold(escapeInvisible(question.title))} ${formatQuestionKeys(question)}`.trimEnd(),
        width,
        styles.yellow('? '),
        (t) => t,
      ),
      ...choices.flatMap((choice, index) =>
        index === marked()
          ? wrapText(choice, width, styles.cyan('❯ '), styles.cyan)
          : wrapText(choice, width, '  ', (t) => t),
      ),
      ...wrapText(hint(), width, '  ', styles.dim),
    ],
    handleKey(data) {
      // Suggestions take the keys first.
      if (field.editor.isShowingAutocomplete()) return false;
      if (matchesKey(data, 'escape')) return (answer(question.defaultKey), true);
      if (matchesKey(data, 'up')) return move(-1);
      if (matchesKey(data, 'down')) return move(1);
      return matchesKey(data, 'enter') && enter();
    },
  };
}

/** A slash command or a shell command: it is run, and never a reply. */
const isCommandLine = (text: string): boolean => /^[/!]/.test(text);

/** The line of a question that is answered in the input field; the full question and its choices are in the transcript. */
export function textPanel(
  { title, choices }: { readonly title: string; readonly choices: readonly string[] },
  styles: TextStyles,
  field: InputField,
  armed: () => boolean,
  answer: (text: string | undefined) => void,
): Panel {
  const [head = '', ...rest] = escapeInvisible(title).split('\n');
  const short = head.length > MAX_TITLE || rest.length > 0 ? `${head.slice(0, MAX_TITLE)} …` : head;
  const choiceHint = choices.length > 0 ? '↑↓ fills in a choice · ' : '';
  let at = -1;
  const step = (by: number): boolean => {
    if (choices.length === 0 || (field.text() !== '' && field.text() !== choices[at])) return false;
    at = (Math.max(at, by > 0 ? -1 : 0) + by + choices.length) % choices.length;
    field.setText(choices[at] ?? '');
    return true;
  };
  return {
    keepsField: true,
    ownsField: true,
    invalidate: () => undefined,
    render: (width) => [
      ...wrapText(styles.bold(short), width, styles.yellow('? '), (t) => t),
      ...(armed() || field.text() === ''
        ? wrapText(`${choiceHint}Enter answer · Esc skip the question`, width, '  ', styles.dim)
        : wrapText(DRAFT_HINT, width, '  ', styles.dim)),
    ],
    handleKey(data) {
      // The first Esc closes the suggestions.
      if (matchesKey(data, 'escape')) return !field.editor.isShowingAutocomplete() && (answer(undefined), true);
      if (matchesKey(data, 'up')) return step(-1);
      if (matchesKey(data, 'down')) return step(1);
      if (!matchesKey(data, 'enter')) return false;
      const text = field.text().trim();
      if (text !== '') field.takeText();
      if (text !== '') answer(parseChoiceAnswer(text, choices));
      return true;
    },
  };
}
