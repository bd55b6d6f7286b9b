// What may stand in place of the entry field: a question with its keys, or a list to choose from.
import { fuzzyFilter, Input, matchesKey, SelectList, type Component, type Focusable } from '@earendil-works/pi-tui';
import { visible } from '../../core/index.ts';
import type { Choice, Question } from './face.ts';
import { listTheme } from './field.ts';
import { wrapped } from './layout.ts';
import type { Paint } from './paint.ts';
import { keysOf, labelsOf } from './wording.ts';

/** A panel takes the keys until it is done. */
export type Panel = Component & { handleInput(data: string): void };

/** The line with the keys of a question; the question itself stands in the transcript, in full. */
export function questionPanel(question: Question, paint: Paint, answer: (key: string) => void): Panel {
  return {
    invalidate: () => undefined,
    render: (width) => [
      ...wrapped(`${paint.bold(visible(question.title))} ${keysOf(question)} `, width, paint.yellow('? '), (t) => t),
      ...wrapped(labelsOf(question), width, '  ', paint.dim),
    ],
    handleInput(data) {
      if (matchesKey(data, 'enter') || matchesKey(data, 'escape')) return answer(question.otherwise);
      const meant = question.keys.find(
        ({ key }) => data.toLowerCase() === key || matchesKey(data, `shift+${key}` as 'a'),
      );
      if (meant !== undefined) answer(meant.key);
    },
  };
}

/** A list that narrows as one types. */
export function pickPanel(
  title: string,
  choices: readonly Choice[],
  paint: Paint,
  done: (value: string | undefined) => void,
): Panel & Focusable {
  const input = new Input({ prompt: '> ' });
  // Values are looked up by place: what is shown has been made visible and may differ from what is meant.
  const items = choices.map(({ label, about }, index) => ({
    value: String(index),
    label: visible(label),
    ...(about === undefined ? {} : { description: visible(about) }),
  }));
  const listOf = (query: string): SelectList => {
    const fitting =
      query === '' ? items : fuzzyFilter(items, query, (item) => `${item.label} ${item.description ?? ''}`);
    return new SelectList(fitting, 10, listTheme(paint));
  };
  let list = listOf('');
  return {
    get focused() {
      return input.focused;
    },
    set focused(value) {
      input.focused = value;
    },
    invalidate: () => list.invalidate(),
    render: (width) => [
      ...wrapped(visible(title), width, '', paint.bold),
      ...input.render(width),
      ...list.render(width),
      paint.dim('↑↓ move · Enter takes · Esc leaves'),
    ],
    handleInput(data) {
      if (matchesKey(data, 'escape') || matchesKey(data, 'ctrl+c')) return done(undefined);
      if (matchesKey(data, 'enter')) {
        const item = list.getSelectedItem();
        return item === null ? undefined : done(choices[Number(item.value)]?.value);
      }
      if (['up', 'down', 'pageUp', 'pageDown'].some((key) => matchesKey(data, key as 'up')))
        return list.handleInput(data);
      const before = input.getValue();
      input.handleInput(data);
      if (input.getValue() !== before) list = listOf(input.getValue());
    },
  };
}
