// The panels above or instead of the input field: a question with keys, a question with a text answer, and a list to choose from.
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
const FIELD_NOT_EMPTY_HINT = 'The keys answer once the input field is empty: Enter sends its text, Ctrl+C clears it.';
const DRAFT_HINT = 'The text in the input field is not the answer: Enter sends it, Ctrl+C clears it.';
const MAX_TITLE = 160;
const LIST_KEYS = ['up', 'down', 'pageUp', 'pageDown'] as const;

/** A panel handles the keys until it closes. */
export type Panel = Component & {
  /** Handles a key; returns false if the panel does not use it. */
  readonly handleKey: (data: string) => boolean;
  /** Whether the input field stays below the panel and gets the keys that the panel does not use. */
  readonly keepsField: boolean;
  /** Whether the text of the input field belongs to the panel, once the user could read the panel. */
  readonly ownsField?: boolean;
};

/** The line with the keys of a question; the full question is in the transcript. */
export function questionPanel(
  question: KeyQuestion,
  styles: TextStyles,
  hasDraft: () => boolean,
  answer: (key: string) => void,
): Panel {
  return {
    keepsField: true,
    invalidate: () => undefined,
    render: (width) => [
      ...wrapText(
        `${styles.bold(escapeInvisible(question.title))} ${formatQuestionKeys(question)} `,
        width,
        styles.yellow('? '),
        (t) => t,
      ),
      ...wrapText(formatQuestionLabels(question), width, '  ', styles.dim),
      ...(hasDraft() ? wrapText(FIELD_NOT_EMPTY_HINT, width, '  ', styles.dim) : []),
    ],
    handleKey(data) {
      const isDefault = matchesKey(data, 'enter') || matchesKey(data, 'escape');
      if (isDefault) answer(question.defaultKey);
      if (isDefault) return true;
      const match = question.keys.find(({ key }) => [key, `shift+${key}`].some((id) => matchesKey(data, id as KeyId)));
      if (match !== undefined) answer(match.key);
      return match !== undefined;
    },
  };
}

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
        ? wrapText(`${choiceHint}Enter answers · Esc skips the question`, width, '  ', styles.dim)
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

/** A list that is filtered by typing. */
export function pickPanel(
  title: string,
  choices: readonly UiChoice[],
  styles: TextStyles,
  done: (value: string | undefined) => void,
): Panel & Focusable {
  const input = new Input({ prompt: '> ' });
  // Values are looked up by index: labels are escaped and may differ from the values.
  const items = choices.map(({ label, description }, index) => ({
    value: String(index),
    label: escapeInvisible(label),
    ...(description === undefined ? {} : { description: escapeInvisible(description) }),
  }));
  const createList = (query: string): SelectList => {
    const matches =
      query === '' ? items : fuzzyFilter(items, query, (item) => `${item.label} ${item.description ?? ''}`);
    return new SelectList(matches, 10, selectListTheme(styles));
  };
  let list = createList('');
  const openedAt = Date.now();
  const accept = (): void => {
    const item = list.getSelectedItem();
    // The Enter that opened the list may have been pressed twice.
    if (item !== null && Date.now() - openedAt >= DOUBLE_ENTER_MS) done(choices[Number(item.value)]?.value);
  };
  const filter = (data: string): void => {
    const before = input.getValue();
    input.handleInput(data);
    if (input.getValue() !== before) list = createList(input.getValue());
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
      ...wrapText(escapeInvisible(title), width, '', styles.bold),
      ...input.render(width),
      ...list.render(width),
      styles.dim('↑↓ move · Enter selects · Esc cancels'),
    ],
    handleKey(data) {
      if (matchesKey(data, 'escape')) done(undefined);
      else if (matchesKey(data, 'enter')) accept();
      else if (LIST_KEYS.some((key) => matchesKey(data, key))) list.handleInput(data);
      else filter(data);
      return true;
    },
  };
}
