// The panel with a list to choose from: typing filters the entries, and finds more where a search is given.
import { fuzzyFilter, Input, matchesKey, SelectList, type Focusable, type SelectItem } from '@earendil-works/pi-tui';
import { escapeInvisible } from '../../core/index.ts';
import type { PickOptions, UiChoice } from './ui.ts';
import { selectListTheme } from './input-field.ts';
import { wrapText } from './layout.ts';
import type { TextStyles } from './ansi-style.ts';
import type { Panel } from './panels.ts';

const DOUBLE_ENTER_MS = 150;
/** A search starts when the user has not typed for this long. */
const SEARCH_DELAY_MS = 120;
/** A label may take most of the line: the first columns of a message say too little. */
const listLayout = { minPrimaryColumnWidth: 32, maxPrimaryColumnWidth: 84 };
const LIST_KEYS = ['up', 'down', 'pageUp', 'pageDown'] as const;

/** What a list needs of the screen. */
export type PickPanelContext = Pick<PickOptions, 'noun' | 'search'> & {
  readonly styles: TextStyles;
  /** Draws the panel again after matches were found. */
  readonly render: () => void;
  readonly done: (value: string | undefined) => void;
};

const toItem = ({ label, description }: UiChoice, index: number): SelectItem => ({
  value: String(index),
  label: escapeInvisible(label),
  ...(description === undefined ? {} : { description: escapeInvisible(description) }),
});

const textOf = ({ label, description = '' }: SelectItem): string => `${label} ${description}`;

const containsWords = (text: string, query: string): boolean =>
  query
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.toLowerCase().includes(word));

/** A list that is filtered by typing. */
export function pickPanel(
  title: string,
  choices: readonly UiChoice[],
  { styles, render, done, search, noun = 'entries' }: PickPanelContext,
): Panel & Focusable {
  const input = new Input({ prompt: '> ' });
  // Values are looked up by index: labels are escaped and may differ from the values.
  const items = choices.map(toItem);
  let found: readonly UiChoice[] = [];
  let searching: AbortController | undefined;
  let listed: readonly SelectItem[] = [];
  // Where texts are searched, an entry must contain the words: a match of scattered letters would hide what was found.
  const filterItems = (query: string): readonly SelectItem[] =>
    search ? items.filter((item) => containsWords(textOf(item), query)) : fuzzyFilter(items, query, textOf);
  const createList = (query: string): SelectList => {
    const matches = query === '' ? items : filterItems(query);
    const shown = new Set(matches.map(({ value }) => choices[Number(value)]?.value));
    const more = found
      .map((choice, index) => ({ choice, item: toItem(choice, choices.length + index) }))
      .filter(({ choice }) => !shown.has(choice.value))
      .map(({ item }) => item);
    const noMatch = (): string => styles.dim(searching ? '  Searching …' : `  No matching ${noun}`);
    listed = [...matches, ...more];
    return new SelectList([...listed], 10, { ...selectListTheme(styles), noMatch }, listLayout);
  };
  let list = createList('');
  const openedAt = Date.now();
  const end = (value: string | undefined): void => {
    searching?.abort();
    done(value);
  };
  const accept = (): void => {
    const item = list.getSelectedItem();
    // The Enter that opened the list may have been pressed twice.
    if (item !== null && Date.now() - openedAt >= DOUBLE_ENTER_MS)
      end([...choices, ...found][Number(item.value)]?.value);
  };
  /** Shows the list again; the selected entry stays selected. */
  function refresh(): void {
    const selected = list.getSelectedItem()?.value;
    list = createList(input.getValue());
    const index = listed.findIndex(({ value }) => value === selected);
    if (index > 0) list.setSelectedIndex(index);
    render();
  }
  async function runSearch(query: string, stop: AbortController): Promise<void> {
    const { signal } = stop;
    await new Promise((resolve) => {
      setTimeout(resolve, SEARCH_DELAY_MS).unref();
    });
    for await (const choice of signal.aborted ? [] : (search?.(query, signal) ?? [])) {
      if (signal.aborted) return;
      found = [...found, choice];
      refresh();
    }
    if (signal.aborted) return;
    searching = undefined;
    refresh();
  }
  const filter = (data: string): void => {
    const before = input.getValue();
    input.handleInput(data);
    const query = input.getValue();
    if (query === before) return;
    searching?.abort();
    searching = undefined;
    found = [];
    if (search && query.trim() !== '') {
      const stop = new AbortController();
      searching = stop;
      void runSearch(query, stop).catch(() => (searching = undefined));
    }
    list = createList(query);
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
      styles.dim(
        `${search ? 'Type to search titles, folders and messages · ' : ''}↑↓ move · Enter select · Esc cancel`,
      ),
    ],
    handleKey(data) {
      if (matchesKey(data, 'escape')) end(undefined);
      else if (matchesKey(data, 'enter')) accept();
      else if (LIST_KEYS.some((key) => matchesKey(data, key))) list.handleInput(data);
      else filter(data);
      return true;
    },
  };
}
