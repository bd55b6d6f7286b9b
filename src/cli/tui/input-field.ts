// The input field: the editor of pi-tui behind a `> `, with completion.
import {
  Editor,
  matchesKey,
  type AutocompleteProvider,
  type Component,
  type Focusable,
  type TUI,
} from '@earendil-works/pi-tui';
import { escapeInvisible } from '../../core/index.ts';
import type { Completer } from './ui.ts';
import type { TextStyles } from './ansi-style.ts';

/** The input field. */
export type InputField = Component &
  Focusable & {
    readonly editor: Editor;
    /** The text as it would be submitted, with pastes in full. */
    text(): string;
    /** Removes and returns the text. */
    takeText(): string;
    setText(text: string): void;
    /** Inserts text at the cursor. */
    insert(text: string): void;
    setCompleter(completer: Completer): void;
    addToHistory(entry: string): void;
    /** Closes suggestions that Enter must not accept: they are for an earlier text, or equal the typed text. */
    closeStaleSuggestions(): void;
    handleInput(data: string): void;
  };

/** Creates an input field; submitted text is passed to `onSubmit`. */
export function createInputField(tui: TUI, styles: TextStyles, onSubmit: (text: string) => void): InputField {
  const editor = new Editor(
    tui,
    {
      // The borders of the editor are drawn only if they show that there are more lines above or below.
      borderColor: (text) => (/^─*$/.test(text) ? '' : styles.dim(text)),
      selectList: selectListTheme(styles),
    },
    { autocompleteMaxVisible: 8 },
  );
  editor.onSubmit = (text) => onSubmit(fromFieldText(text));
  let offered: OfferedSuggestions | undefined;
  let moved = false;
  return {
    editor,
    get focused() {
      return editor.focused;
    },
    set focused(value) {
      editor.focused = value;
    },
    text: () => fromFieldText(editor.getExpandedText()),
    takeText() {
      const text = fromFieldText(editor.getExpandedText());
      editor.setText('');
      return text;
    },
    setText: (text) => editor.setText(toFieldText(escapeInvisible(text))),
    insert: (text) => editor.insertTextAtCursor(toFieldText(escapeInvisible(text))),
    setCompleter(completer) {
      editor.setAutocompleteProvider(createAutocompleteProvider(completer, (now) => void (offered = now)));
    },
    closeStaleSuggestions() {
      if (!editor.isShowingAutocomplete() || offered === undefined) return;
      const before = textBefore(editor.getLines(), editor.getCursor().line, editor.getCursor().col);
      if (offered.before !== before || (offered.exactMatch && !moved)) editor.handleInput('\x1b');
    },
    addToHistory: (entry) => editor.addToHistory(toFieldText(escapeInvisible(entry))),
    handleInput(data) {
      moved = matchesKey(data, 'up') || matchesKey(data, 'down');
      editor.handleInput(data.startsWith(PASTE_START) ? toFieldText(data) : data);
    },
    invalidate: () => editor.invalidate(),
    render(width) {
      const lines = editor.render(Math.max(4, width - 2)).filter((line) => line !== '');
      return lines.map((line, index) => (index === 0 ? styles.cyan('> ') : '  ') + line.replaceAll(TAB_MARK, '→'));
    },
  };
}

const PASTE_START = '\x1b[200~';

// The editor replaces a tab by spaces, so that a pasted Makefile would not work: in the field a private character stands for it.
const TAB_MARK = '\u{e009}';
const toFieldText = (text: string): string => text.replaceAll('\t', TAB_MARK);
const fromFieldText = (text: string): string => text.replaceAll(TAB_MARK, '\t');

/** The styles of lists to choose from. */
export function selectListTheme(styles: TextStyles): {
  readonly [part in 'selectedPrefix' | 'selectedText' | 'description' | 'scrollInfo' | 'noMatch']: (
    t: string,
  ) => string;
} {
  return {
    selectedPrefix: styles.cyan,
    selectedText: styles.cyan,
    description: styles.dim,
    scrollInfo: styles.dim,
    noMatch: styles.dim,
  };
}

/** The text for which suggestions were found, and whether one of them equals what is typed. */
type OfferedSuggestions = { readonly before: string; readonly exactMatch: boolean };

function textBefore(lines: readonly string[], row: number, column: number): string {
  return [...lines.slice(0, row), (lines[row] ?? '').slice(0, column)].join('\n');
}

function createAutocompleteProvider(
  completer: Completer,
  offer: (offered: OfferedSuggestions) => void,
): AutocompleteProvider {
  let current: OfferedSuggestions | undefined;
  return {
    triggerCharacters: ['@'],
    async getSuggestions(lines, row, column, { signal }) {
      const before = textBefore(lines, row, column);
      const suggestions = await completer(before, signal).catch(() => undefined);
      if (suggestions === undefined || signal.aborted) return null;
      const prefix = before.slice(suggestions.from);
      if (prefix.includes('\n')) return null;
      current = { before, exactMatch: suggestions.choices.some(({ value }) => value === prefix) };
      offer(current);
      const items = suggestions.choices.map(({ value, label, description }) => ({
        value: escapeInvisible(value),
        label: escapeInvisible(label),
        ...(description === undefined ? {} : { description: escapeInvisible(description) }),
      }));
      return { items, prefix };
    },
    applyCompletion(lines, row, column, item, prefix) {
      // The old suggestions stay visible until the new ones arrive; accepting one of those would corrupt the text.
      if (current?.before !== textBefore(lines, row, column)) return { lines, cursorLine: row, cursorCol: column };
      const line = lines[row] ?? '';
      const head = line.slice(0, column - prefix.length) + item.value;
      return { lines: lines.with(row, head + line.slice(column)), cursorLine: row, cursorCol: head.length };
    },
  };
}
