// The entry field: pi-tui's editor behind a `> `, with completion through the conversation's completer.
import { Editor, type AutocompleteProvider, type Component, type Focusable, type TUI } from '@earendil-works/pi-tui';
import { visible } from '../../core/index.ts';
import type { Completer } from './face.ts';
import type { Paint } from './paint.ts';

/** The entry field, drawn and typed into. */
export type Field = Component &
  Focusable & {
    readonly editor: Editor;
    /** The text as it would be sent, pastes in full. */
    text(): string;
    /** Takes the text out of the field. */
    take(): string;
    set(text: string): void;
    complete(completer: Completer): void;
    remember(entry: string): void;
    handleInput(data: string): void;
  };

/** A field whose entries go to `sent`. */
export function fieldOf(tui: TUI, paint: Paint, sent: (text: string) => void): Field {
  const editor = new Editor(
    tui,
    {
      // The editor's rules are drawn only where they say that there is more above or below.
      borderColor: (text) => (/^─*$/.test(text) ? '' : paint.dim(text)),
      selectList: listTheme(paint),
    },
    { autocompleteMaxVisible: 8 },
  );
  editor.onSubmit = sent;
  return {
    editor,
    get focused() {
      return editor.focused;
    },
    set focused(value) {
      editor.focused = value;
    },
    text: () => editor.getExpandedText(),
    take() {
      const text = editor.getExpandedText();
      editor.setText('');
      return text;
    },
    set: (text) => editor.setText(visible(text)),
    complete: (completer) => editor.setAutocompleteProvider(providerOf(completer)),
    remember: (entry) => editor.addToHistory(visible(entry)),
    handleInput: (data) => editor.handleInput(data),
    invalidate: () => editor.invalidate(),
    render(width) {
      const lines = editor.render(Math.max(4, width - 2)).filter((line) => line !== '');
      return lines.map((line, index) => (index === 0 ? paint.cyan('> ') : '  ') + line);
    },
  };
}

/** How lists to choose from look. */
export function listTheme(paint: Paint): {
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

function providerOf(completer: Completer): AutocompleteProvider {
  return {
    triggerCharacters: ['@'],
    async getSuggestions(lines, row, column, { signal }) {
      const before = [...lines.slice(0, row), (lines[row] ?? '').slice(0, column)].join('\n');
      const found = await completer(before, signal).catch(() => undefined);
      if (found === undefined) return null;
      const prefix = before.slice(found.from);
      if (prefix.includes('\n')) return null;
      const items = found.choices.map(({ value, label, about }) => ({
        value: visible(value),
        label: visible(label),
        ...(about === undefined ? {} : { description: visible(about) }),
      }));
      return { items, prefix };
    },
    applyCompletion(lines, row, column, item, prefix) {
      const line = lines[row] ?? '';
      const head = line.slice(0, column - prefix.length) + item.value;
      return { lines: lines.with(row, head + line.slice(column)), cursorLine: row, cursorCol: head.length };
    },
  };
}
