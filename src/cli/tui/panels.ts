// What may stand in place of the entry field: a question with its keys, or a list to choose from.
import {
  fuzzyFilter,
  Input,
  matchesKey,
  SelectList,
  type Component,
  type Focusable,
  type KeyId,
} from '@earendil-works/pi-tui';
import { escapeInvisible } from '../../core/index.ts';
import type { UiChoice, KeyQuestion } from './ui.ts';
import { selectListTheme, type InputField } from './input-field.ts';
import { wrapText } from './layout.ts';
import type { TextStyles } from './ansi-style.ts';
import { parseChoiceAnswer, formatQuestionKeys, formatQuestionLabels } from './format.ts';

const DOUBLE_ENTER_MS = 150;
const FIELD_NOT_EMPTY_HINT =
  'The letters answer once the field below is empty: Enter sends what is in it, Ctrl+C clears it.';
const DRAFT_HINT = 'What is in the field is no answer: Enter sends it, Ctrl+C clears it.';
const MAX_TITLE = 160;
const LIST_KEYS = ['up', 'down', 'pageUp', 'pageDown'] as const;

/** A panel takes the keys until it is done. */
export type Panel = Component & {
  /** Takes a key, or says that it means nothing here. */
  readonly handleKey: (data: string) => boolean;
  /** Whether the entry field stays below it, and gets the keys that mean nothing here. */
  readonly keepsField: boolean;
  /** Whether what is typed into the field is meant for it, once it could be read. */
  readonly ownsField?: boolean;
};

/** The line with the keys of a question; the question itself stands in the transcript, in full. */
export function questionPanel(
  question: KeyQuestion,
  paint: TextStyles,
  drafting: () => boolean,
  answer: (key: string) => void,
): Panel {
  return {
    keepsField: true,
    invalidate: () => undefined,
    render: (width) => [
      ...wrapText(
        `${paint.bold(escapeInvisible(question.title))} ${formatQuestionKeys(question)} `,
        width,
        paint.yellow('? '),
        (t) => t,
      ),
      ...wrapText(formatQuestionLabels(question), width, '  ', paint.dim),
      ...(drafting() ? wrapText(FIELD_NOT_EMPTY_HINT, width, '  ', paint.dim) : []),
    ],
    handleKey(data) {
      const plainly = matchesKey(data, 'enter') || matchesKey(data, 'escape');
      if (plainly) answer(question.defaultKey);
      if (plainly) return true;
      const meant = question.keys.find(({ key }) => [key, `shift+${key}`].some((id) => matchesKey(data, id as KeyId)));
      if (meant !== undefined) answer(meant.key);
      return meant !== undefined;
    },
  };
}

/** The line of a question whose answer is typed into the entry field; the question and its choices stand in the transcript, in full. */
export function textPanel(
  { title, choices }: { readonly title: string; readonly choices: readonly string[] },
  paint: TextStyles,
  field: InputField,
  armed: () => boolean,
  answer: (words: string | undefined) => void,
): Panel {
  const [head = '', ...rest] = escapeInvisible(title).split('\n');
  const short = head.length > MAX_TITLE || rest.length > 0 ? `${head.slice(0, MAX_TITLE)} …` : head;
  const choosing = choices.length > 0 ? '↑↓ fills in a choice · ' : '';
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
      ...wrapText(paint.bold(short), width, paint.yellow('? '), (t) => t),
      ...(armed() || field.text() === ''
        ? wrapText(`${choosing}Enter answers · Esc leaves it unanswered`, width, '  ', paint.dim)
        : wrapText(DRAFT_HINT, width, '  ', paint.dim)),
    ],
    handleKey(data) {
      // Esc closes suggestions first.
      if (matchesKey(data, 'escape')) return !field.editor.isShowingAutocomplete() && (answer(undefined), true);
      if (matchesKey(data, 'up')) return step(-1);
      if (matchesKey(data, 'down')) return step(1);
      if (!matchesKey(data, 'enter')) return false;
      const words = field.text().trim();
      if (words !== '') field.takeText();
      if (words !== '') answer(parseChoiceAnswer(words, choices));
      return true;
    },
  };
}

/** A list that narrows as one types. */
export function pickPanel(
  title: string,
  choices: readonly UiChoice[],
  paint: TextStyles,
  done: (value: string | undefined) => void,
): Panel & Focusable {
  const input = new Input({ prompt: '> ' });
  // Values are looked up by place: what is shown has been made visible and may differ from what is meant.
  const items = choices.map(({ label, description }, index) => ({
    value: String(index),
    label: escapeInvisible(label),
    ...(description === undefined ? {} : { description: escapeInvisible(description) }),
  }));
  const listOf = (query: string): SelectList => {
    const fitting =
      query === '' ? items : fuzzyFilter(items, query, (item) => `${item.label} ${item.description ?? ''}`);
    return new SelectList(fitting, 10, selectListTheme(paint));
  };
  let list = listOf('');
  const openedAt = Date.now();
  const take = (): void => {
    const item = list.getSelectedItem();
    // The Enter that asked for the list may have been pressed twice.
    if (item !== null && Date.now() - openedAt >= DOUBLE_ENTER_MS) done(choices[Number(item.value)]?.value);
  };
  const narrow = (data: string): void => {
    const before = input.getValue();
    input.handleInput(data);
    if (input.getValue() !== before) list = listOf(input.getValue());
  };
  return {
    keepsField: false,
    get focused() {
      return input.focused;
    },
    set focused(value) {
      input.focused = value;
    },
    invalidate: () => list.invalidate(),
    render: (width) => [
      ...wrapText(escapeInvisible(title), width, '', paint.bold),
      ...input.render(width),
      ...list.render(width),
      paint.dim('↑↓ move · Enter takes · Esc leaves'),
    ],
    handleKey(data) {
      if (matchesKey(data, 'escape')) done(undefined);
      else if (matchesKey(data, 'enter')) take();
      else if (LIST_KEYS.some((key) => matchesKey(data, key))) list.handleInput(data);
      else narrow(data);
      return true;
    },
  };
}
