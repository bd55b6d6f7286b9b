// What reminders have to remember: how often each was looked at, and when it was last shown. All of it is read from the log.
import { isObject, type Event, type Fact, type Json, type NamedView } from '../../core/index.ts';
import { alike } from '../history/shelf.ts';
import { openCalls, type OpenCall } from '../history/open-calls.ts';
import { toolsOf, triggersOf, type ReminderDefinition } from './definition.ts';
import { meaningOf } from './triggers.ts';

/** How often a reminder was looked at, how often it was shown, and after how many looks and in which turn it last was. */
export type ReminderMark = {
  readonly looks: number;
  readonly shown: number;
  readonly at: number;
  readonly turn: number;
};

/** What the reminders of a set remember. `about` names the tools that the last event was about. */
export type Marks = {
  readonly calls: readonly OpenCall[];
  readonly about: readonly string[];
  readonly marks: Readonly<Record<string, ReminderMark>>;
};

/** A reminder and the test whether an event of a type concerns it. */
export type Watch = {
  readonly reminder: ReminderDefinition;
  readonly concerns: (event: Event, about: readonly string[]) => boolean;
};

/** A reminder that was never looked at. */
export const neverShown: ReminderMark = { looks: 0, shown: 0, at: 0, turn: 0 };

/** Which reminders are looked at for which type of fact; one is looked at once for an event, however many triggers name it. */
export function watchesOf(reminders: readonly ReminderDefinition[]): ReadonlyMap<Fact['type'], readonly Watch[]> {
  const watches = new Map<Fact['type'], Watch[]>();
  for (const reminder of reminders) {
    const tools = toolsOf(reminder);
    const byType = Map.groupBy(triggersOf(reminder).map(meaningOf), ({ type }) => type);
    for (const [type, meanings] of byType) {
      const concerns: Watch['concerns'] = (event, about) =>
        meanings.some(({ test }) => !test || test(event)) &&
        (tools.length === 0 || tools.some((tool) => about.includes(tool)));
      watches.set(type, [...(watches.get(type) ?? []), { reminder, concerns }]);
    }
  }
  return watches;
}

/** Whether a reminder has anything to remember. */
export const remembers = ({ cooldown, once }: ReminderDefinition): boolean => once === true || Boolean(cooldown);

/** Whether a note with this key is one of this reminder. */
export const isOf = (name: string, key: string): boolean => key === name || key.startsWith(`${name}/`);

/** The view of a set of reminders. To have been shown is what counts: a note that a crash or an edit took back was never said. */
export function marksView(
  set: string,
  reminders: readonly ReminderDefinition[],
  watches: ReadonlyMap<Fact['type'], readonly Watch[]>,
): NamedView<Marks> {
  const names = reminders.filter(remembers).map(({ name }) => name);
  const remembering = new Map(
    [...watches].map(([type, watching]) => [type, watching.filter(({ reminder }) => remembers(reminder))]),
  );
  return {
    name: `reminders/${set}`,
    initial: { calls: [], about: [], marks: {} },
    on(state, event) {
      const calls = openCalls(state.calls, event);
      const about = aboutOf(event, state.calls, calls);
      const looked = (remembering.get(event.type) ?? none).filter(({ concerns }) => concerns(event, about));
      const shown = shownIn(event, names);
      if (looked.length + shown.length === 0) return { calls, about, marks: state.marks };
      // One copy an event, however many reminders it concerns.
      const marks: Record<string, ReminderMark> = { ...state.marks };
      const markOf = (name: string): ReminderMark => marks[name] ?? neverShown;
      for (const { name } of looked.map(({ reminder }) => reminder))
        marks[name] = { ...markOf(name), looks: markOf(name).looks + 1 };
      for (const name of shown) {
        const { looks, shown: times } = markOf(name);
        marks[name] = { looks, shown: times + 1, at: looks, turn: event.type === 'turn-started' ? event.turn : 0 };
      }
      return { calls, about, marks };
    },
    serialize: ({ marks }) => marks,
    restore,
  };
}

/** Which of these reminders a turn showed. */
const shownIn = (event: Event, names: readonly string[]): readonly string[] =>
  event.type === 'turn-started' && event.notes.length
    ? names.filter((name) => event.notes.some(({ key }) => isOf(name, key)))
    : [];

function restore(kept: Json): Marks | undefined {
  if (!isObject(kept) || !Object.values(kept).every((mark) => alike(mark, neverShown))) return undefined;
  return { calls: [], about: [], marks: kept as Marks['marks'] };
}

const none: readonly never[] = [];

/** The tools that an event is about: of the calls that were open before it, or that it opened. */
function aboutOf(event: Event, before: readonly OpenCall[], after: readonly OpenCall[]): readonly string[] {
  if (event.type === 'turn-ended') return after.map(({ tool }) => tool);
  if (event.type === 'tool-started') return [event.tool];
  if (event.type === 'tool-ended' || event.type === 'approval-requested' || event.type === 'approval-resolved')
    return before.filter(({ id }) => id === event.call).map(({ tool }) => tool);
  return none;
}
