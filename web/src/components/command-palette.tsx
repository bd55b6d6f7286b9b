// The command palette (Ctrl+K): goes to screens, runs and sessions, and does what the buttons do.
import type { JSX } from 'preact';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { api } from '../api/client.ts';
import { forgetKeyInAllTabs } from '../api/tab-sync.ts';
import { toggleNotifications } from '../hooks/use-pending-approvals.ts';
import { usePermission } from '../hooks/use-permission.ts';
import { usePoll } from '../hooks/use-poll.ts';
import { filterEntries, type PaletteEntry } from '../state/palette.ts';
import { currentRoute, linkTo, navigate, screens } from '../state/router.ts';
import { screenLabels } from '../state/screen-labels.ts';
import { openPaletteEvent, openShortcutsEvent, stopRunsEvent } from '../state/ui-events.ts';
import { formatHeading } from '../text/labels.ts';
import { EscapedText } from './escaped-text.tsx';
import { Icon } from './icon.tsx';
import type { useKillSwitch } from './kill-switch.tsx';
import { setTheme } from './theme.tsx';

type PaletteProps = { readonly killSwitch: ReturnType<typeof useKillSwitch> };

/** The palette, opened by an event. */
export function CommandPalette(props: PaletteProps): JSX.Element | null {
  const [isOpen, setOpen] = useState(false);
  useEffect(() => {
    const show = (): void => setOpen(true);
    addEventListener(openPaletteEvent, show);
    return () => removeEventListener(openPaletteEvent, show);
  }, []);
  return isOpen ? <OpenPalette {...props} close={() => setOpen(false)} /> : null;
}

function OpenPalette({ killSwitch, close }: PaletteProps & { readonly close: () => void }): JSX.Element {
  const dialog = useRef<HTMLDialogElement>(null);
  const [typed, setTyped] = useState('');
  const [chosen, setChosen] = useState(0);
  const entries = useEntries(killSwitch, typed);
  const shown = useMemo(() => filterEntries(entries, typed).slice(0, 40), [entries, typed]);
  const current = Math.min(chosen, Math.max(0, shown.length - 1));
  useEffect(() => dialog.current?.showModal(), []);
  useEffect(() => {
    dialog.current?.querySelector('[aria-selected=true]')?.scrollIntoView({ block: 'nearest' });
  }, [current]);
  const act = (entry: PaletteEntry | undefined): void => {
    if (!entry) return;
    dialog.current?.close();
    entry.act();
  };
  const onKey = (event: KeyboardEvent): void => {
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
    if (step !== 0 && shown.length > 0) {
      event.preventDefault();
      setChosen((current + step + shown.length) % shown.length);
    } else if (event.key === 'Enter') {
      event.preventDefault();
      act(shown[current]);
    }
  };
  return (
    <dialog
      ref={dialog}
      class="palette"
      aria-label="Search or go to"
      onClose={close}
      onClick={(event) => {
        // A click outside the palette closes it.
        if (event.target === dialog.current) dialog.current?.close();
      }}
    >
      <div class="palette-field">
        <Icon name="search" />
        <input
          type="text"
          role="combobox"
          aria-label="Search or go to"
          aria-expanded="true"
          aria-controls="palette-list"
          aria-activedescendant={shown[current] ? `palette-${current}` : undefined}
          placeholder="Search screens, actions, sessions and runs"
          spellcheck={false}
          autoFocus
          value={typed}
          onInput={(event) => {
            setTyped(event.currentTarget.value);
            setChosen(0);
          }}
          onKeyDown={onKey}
        />
        <kbd>Esc</kbd>
      </div>
      <ul id="palette-list" role="listbox" aria-label="Results">
        {shown.map((entry, i) => (
          <li
            key={entry.id}
            id={`palette-${i}`}
            role="option"
            aria-selected={i === current}
            data-group={entry.group === shown[i - 1]?.group ? undefined : entry.group}
            onClick={() => act(entry)}
            onPointerMove={() => setChosen(i)}
          >
            <Icon name={entry.icon} />
            <span class="palette-entry" dir="auto">
              <EscapedText text={entry.name} />
            </span>
            {entry.hint === undefined ? null : (
              <span class="hint">
                <EscapedText text={entry.hint} />
              </span>
            )}
          </li>
        ))}
      </ul>
      {shown.length === 0 ? <p class="palette-none">No results.</p> : null}
    </dialog>
  );
}

function useEntries(killSwitch: PaletteProps['killSwitch'], typed: string): readonly PaletteEntry[] {
  const may = usePermission('operator');
  const mayRun = usePermission('runner');
  const q = useSettled(typed.trim());
  const sessions = usePoll((signal) => api.sessions({ source: 'all', q, limit: 12 }, signal), 30_000, `sessions ${q}`);
  const runs = usePoll((signal) => api.runs({ q, limit: 8 }, signal), 30_000, `runs ${q}`);
  return useMemo(() => {
    const action = (
      id: string,
      icon: PaletteEntry['icon'],
      name: string,
      act: () => void,
      words = '',
    ): PaletteEntry => ({ id, group: 'Actions', icon, name, act, words });
    return [
      ...(mayRun ? [action('new', 'add', 'New run', () => navigate('ask'), 'ask prompt create')] : []),
      ...getRunActions(mayRun),
      ...getViewActions(),
      ...(may && !killSwitch.isStopped
        ? [
            action(
              'stop',
              'stop',
              'Stop all runs',
              () => dispatchEvent(new Event(stopRunsEvent)),
              'kill switch emergency',
            ),
          ]
        : []),
      ...(may && killSwitch.isStopped
        ? [
            action(
              'resume',
              'play',
              'Resume runs',
              () => void api.resumeFleet().then(killSwitch.refresh),
              'kill switch',
            ),
          ]
        : []),
      ...screens.map((screen) => ({
        id: `screen ${screen}`,
        group: 'Screens',
        icon: screenLabels[screen].icon,
        name: screenLabels[screen].name,
        hint: `g ${screenLabels[screen].key}`,
        act: () => navigate(screen),
      })),
      ...(sessions.value?.sessions ?? []).map((each) => ({
        id: `session ${each.session}`,
        group: 'Sessions',
        icon: each.source === 'terminal' ? ('terminal' as const) : ('sessions' as const),
        name: formatHeading(each.title ?? each.name ?? each.session),
        words: each.session,
        ...(each.folder === undefined ? {} : { hint: each.folder }),
        act: () =>
          location.assign(linkTo('sessions', each.session, { source: each.source === 'terminal' ? 'terminal' : '' })),
      })),
      ...(runs.value?.runs ?? []).map((run) => ({
        id: `run ${run.id}`,
        group: 'Runs',
        icon: 'runs' as const,
        name: formatHeading(run.prompt),
        words: run.id,
        hint: run.status,
        act: () => navigate('runs', run.id),
      })),
      action('theme light', 'sun', 'Theme: light', () => setTheme('light'), 'colours'),
      action('theme dark', 'moon', 'Theme: dark', () => setTheme('dark'), 'colours'),
      action('theme auto', 'auto', 'Theme: as the system', () => setTheme('system'), 'colours'),
      action(
        'notify',
        'bell',
        'Turn notifications of approvals and ended runs on or off',
        () => void toggleNotifications(),
      ),
      action('shortcuts', 'settings', 'Keyboard shortcuts', () => dispatchEvent(new Event(openShortcutsEvent)), 'help'),
      action('sign out', 'sign-out', 'Sign out', forgetKeyInAllTabs, 'key forget'),
    ];
  }, [may, mayRun, killSwitch.isStopped, sessions.value, runs.value]);
}

/** The actions of the run on the screen. */
function getRunActions(may: boolean): readonly PaletteEntry[] {
  const { screen, id } = currentRoute.get();
  if (screen !== 'runs' || id === undefined || !may) return [];
  return [
    {
      id: 'cancel',
      group: 'Actions',
      icon: 'stop',
      name: 'Cancel this run',
      words: 'stop',
      act: () => void api.cancelRun(id),
    },
  ];
}

/** The views of the run or session on the screen; without one, the lists where one is chosen. */
function getViewActions(): readonly PaletteEntry[] {
  const { screen, id, query } = currentRoute.get();
  const isOpen = (screen === 'runs' || screen === 'sessions') && id !== undefined;
  const source = new URLSearchParams(query).get('source') ?? '';
  const toEntry = (view: string, name: string, icon: PaletteEntry['icon'], words: string): PaletteEntry => ({
    id: `view ${view}`,
    group: 'Actions',
    icon,
    name: isOpen ? `${name} of this ${screen === 'runs' ? 'run' : 'session'}` : `${name} of a run: choose the run`,
    words,
    act: () => (isOpen ? location.assign(linkTo(screen, id, { source, view })) : navigate('runs')),
  });
  return [
    toEntry('trace', 'Trace', 'clock', 'waterfall spans durations view'),
    toEntry('events', 'Events', 'sessions', 'log view'),
  ];
}

/** A value that changes only after the user has paused typing. */
function useSettled(value: string): string {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), 180);
    return () => clearTimeout(timer);
  }, [value]);
  return settled;
}
