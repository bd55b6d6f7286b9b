// Keyboard shortcuts: go to a screen, move in a list, focus the search, and the list of all of them.
import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { navigate, screens } from '../state/router.ts';
import { screenLabels } from '../state/screen-labels.ts';
import { openPaletteEvent, openShortcutsEvent } from '../state/ui-events.ts';

/** The storage key of the choice to turn shortcuts off: voice input can trigger single-key shortcuts by mistake. */
const shortcutsDisabledKey = 'fairlead-no-shortcuts';

/** Milliseconds after `g` within which the second key must follow. */
const leaderTimeoutMs = 1200;

/** Handles shortcuts, except in text fields and with a modifier key; Ctrl+K works everywhere. */
export function useShortcuts(): void {
  useEffect(() => {
    let leader = 0;
    function onKey(event: KeyboardEvent): void {
      const target = event.target as HTMLElement;
      if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === 'k') {
        event.preventDefault();
        dispatchEvent(new Event(openPaletteEvent));
        return;
      }
      if (event.ctrlKey || event.metaKey || event.altKey || target.closest('input, textarea, select, dialog')) return;
      if (localStorage.getItem(shortcutsDisabledKey) !== null) return;
      if (event.key === '?') dispatchEvent(new Event(openShortcutsEvent));
      else if (event.key === 'j' || event.key === 'k') moveInList(event.key === 'j' ? 1 : -1, event);
      else if (event.key === '/') focusSearch(event);
      else if (event.key === 'g') leader = event.timeStamp;
      else if (leader > 0 && event.timeStamp - leader < leaderTimeoutMs) {
        leader = 0;
        const screen = screens.find((each) => screenLabels[each].key === event.key);
        if (screen === undefined) return;
        event.preventDefault();
        navigate(screen);
        document.querySelector<HTMLElement>('#main')?.focus();
      }
    }
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, []);
}

/** Moves the focus to the next or the previous row of the list: the row is a link, so Enter opens it. */
function moveInList(step: 1 | -1, event: KeyboardEvent): void {
  const rows = [...document.querySelectorAll<HTMLElement>('main [data-row]')];
  if (rows.length === 0) return;
  const at = rows.indexOf(document.activeElement as HTMLElement);
  const next = at < 0 ? (step > 0 ? 0 : rows.length - 1) : Math.min(rows.length - 1, Math.max(0, at + step));
  event.preventDefault();
  rows[next]?.focus();
  rows[next]?.scrollIntoView({ block: 'nearest' });
}

function focusSearch(event: KeyboardEvent): void {
  const field = document.querySelector<HTMLInputElement>('main input[type=search]');
  event.preventDefault();
  if (field) field.focus();
  else dispatchEvent(new Event(openPaletteEvent));
}

const otherShortcuts: readonly (readonly [keys: readonly string[], what: string])[] = [
  [['Ctrl', 'K'], 'Search or go to'],
  [['j'], 'Next row of a list'],
  [['k'], 'Previous row of a list'],
  [['Enter'], 'Open the row'],
  [['/'], 'Search in this list'],
  [['Ctrl', 'Enter'], 'Send'],
  [['?'], 'Show this list'],
];

/** The list of shortcuts, opened by an event. */
export function ShortcutsDialog(): JSX.Element | null {
  const [isOpen, setOpen] = useState(false);
  useEffect(() => {
    const show = (): void => setOpen(true);
    addEventListener(openShortcutsEvent, show);
    return () => removeEventListener(openShortcutsEvent, show);
  }, []);
  return isOpen ? <OpenDialog close={() => setOpen(false)} /> : null;
}

function OpenDialog({ close }: { readonly close: () => void }): JSX.Element {
  const dialog = useRef<HTMLDialogElement>(null);
  const [isUsed, setUsed] = useState(() => localStorage.getItem(shortcutsDisabledKey) === null);
  useEffect(() => dialog.current?.showModal(), []);
  const rows = [
    ...screens.map((screen) => [['g', screenLabels[screen].key], screenLabels[screen].name] as const),
    ...otherShortcuts,
  ];
  return (
    <dialog ref={dialog} onClose={close} aria-labelledby="shortcuts-title">
      <h2 id="shortcuts-title">Shortcuts</h2>
      <dl class="keys">
        {rows.map(([keys, what]) => (
          <div key={what}>
            <dt>
              {keys.map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
      <form method="dialog" class="buttons">
        <label class="check">
          <input
            type="checkbox"
            checked={isUsed}
            onChange={(event) => {
              if (event.currentTarget.checked) localStorage.removeItem(shortcutsDisabledKey);
              else localStorage.setItem(shortcutsDisabledKey, 'yes');
              setUsed(event.currentTarget.checked);
            }}
          />
          Enable shortcuts in this browser
        </label>
        <button type="submit">Close</button>
      </form>
    </dialog>
  );
}
