// The entry field: pi-tui's editor behind a `> `, with completion through the conversation's completer.
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

/** The entry field, drawn and typed into. */
export type InputField = Component &
  Focusable & {
    readonly editor: Editor;
    /** The text as it would be sent, pastes in full. */
    text(): string;
    /** Takes the text out of the field. */
    takeText(): string;
    setText(text: string): void;
    setCompleter(completer: Completer): void;
    addToHistory(entry: string): void;
    /** Closes suggestions that Enter must not take: they are for an earlier text, or say what is there already. */
    closeStaleSuggestions(): void;
    handleInput(data: string): void;
  };

/** A field whose entries go to `sent`. */
export function createInputField(tui: TUI, paint: TextStyles, sent: (text: string) => void): InputField {
  const editor = new Editor(
    tui,
    {
      // The editor's rules are drawn only where they say that there is more above or below.
      borderColor: (text) => (/^─*$/.test(text) ? '' : paint.dim(text)),
      selectList: selectListTheme(paint),
    },
    { autocompleteMaxVisible: 8 },
  );
  editor.onSubmit = sent;
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
    text: () => editor.getExpandedText(),
    takeText() {
      const text = editor.getExpandedText();
      editor.setText('');
      return text;
    },
    setText: (text) => editor.setText(escapeInvisible(text)),
    setCompleter(completer) {
      editor.setAutocompleteProvider(createAutocompleteProvider(completer, (now) => void (offered = now)));
    },
    closeStaleSuggestions() {
      if (!editor.isShowingAutocomplete() || offered === undefined) return;
      const before = textBefore(editor.getLines(), editor.getCursor().line, editor.getCursor().col);
      if (offered.before !== before || (offered.exactMatch && !moved)) editor.handleInput('\x1b');
    },
    addToHistory: (entry) => editor.addToHistory(escapeInvisible(entry)),
    handleInput(data) {
      moved = matchesKey(data, 'up') || matchesKey(data, 'down');
      editor.handleInput(data);
    },
    invalidate: () => editor.invalidate(),
    render(width) {
      const lines = editor.render(Math.max(4, width - 2)).filter((line) => line !== '');
      return lines.map((line, index) => (index === 0 ? paint.cyan('> ') : '  ') + line);
    },
  };
}

/** How lists to choose from look. */
export function selectListTheme(paint: TextStyles): {
  readonly [part in 'selectedPrefix' | 'selectedText' | 'description' | 'scrollInfo' | 'noMatch']: (
    t: string,
  ) => string;
} {
  return {
    selectedPrefix: paint.cyan,
    selectedText: paint.cyan,
    description: paint.dim,
    scrollInfo: paint.dim,
    noMatch: paint.dim,
  };
}

/** For which text suggestions were found, and whether one of them is what is written already. */
type OfferedSuggestions = { readonly before: string; readonly exactMatch: boolean };

function textBefore(lines: readonly string[], row: number, column: number): string {
  return [...lines.slice(0, row), (lines[row] ?? '').slice(0, column)].join('\n');
}

function createAutocompleteProvider(
  completer: Completer,
  offer: (offered: OfferedSuggestions) => void,
): AutocompleteProvider {
  let found: OfferedSuggestions | undefined;
  return {
    triggerCharacters: ['@'],
    async getSuggestions(lines, row, column, { signal }) {
      const before = textBefore(lines, row, column);
      const fitting = await completer(before, signal).catch(() => undefined);
      if (fitting === undefined || signal.aborted) return null;
      const prefix = before.slice(fitting.from);
      if (prefix.includes('\n')) return null;
      found = { before, exactMatch: fitting.choices.some(({ value }) => value === prefix) };
      offer(found);
      const items = fitting.choices.map(({ value, label, description }) => ({
        value: escapeInvisible(value),
        label: escapeInvisible(label),
        ...(description === undefined ? {} : { description: escapeInvisible(description) }),
      }));
      return { items, prefix };
    },
    applyCompletion(lines, row, column, item, prefix) {
      // While new suggestions are on their way the old ones are still shown: taking one would garble the text.
      if (found?.before !== textBefore(lines, row, column)) return { lines, cursorLine: row, cursorCol: column };
      const line = lines[row] ?? '';
      const head = line.slice(0, column - prefix.length) + item.value;
      return { lines: lines.with(row, head + line.slice(column)), cursorLine: row, cursorCol: head.length };
    },
  };
}
