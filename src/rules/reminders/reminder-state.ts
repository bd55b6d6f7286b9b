// The state of reminders, computed from the log: how often each was evaluated, and when it was last shown.
import { isObject, type Event, type Fact, type Json, type NamedView } from '../../core/index.ts';
import { hasSameShape } from '../session-stats/lru-map.ts';
import { updateOpenCalls, type OpenCall } from '../session-stats/open-calls.ts';
import { reminderTools, reminderTriggers, type ReminderDefinition } from './definition.ts';
import { resolveTrigger } from './triggers.ts';

/** How often a reminder was evaluated and shown, and at which evaluation and turn it was last shown. */
export type ReminderCounters = {
  readonly looks: number;
  readonly shown: number;
  readonly at: number;
  readonly turn: number;
};

/** The state of the reminders of a set. `about` lists the tools of the last event. */
export type ReminderState = {
  readonly calls: readonly OpenCall[];
  readonly about: readonly string[];
  readonly marks: Readonly<Record<string, ReminderCounters>>;
};

/** A reminder, and the test whether an event concerns it. */
export type ReminderSubscription = {
  readonly reminder: ReminderDefinition;
  readonly matches: (event: Event, about: readonly string[]) => boolean;
};

/** The counters of a reminder that was never evaluated. */
export const initialCounters: ReminderCounters = { looks: 0, shown: 0, at: 0, turn: 0 };

/** Returns the reminders to evaluate by event type. A reminder is evaluated once per event, even if several triggers match. */
export function subscriptionsByFact(
  reminders: readonly ReminderDefinition[],
): ReadonlyMap<Fact['type'], readonly ReminderSubscription[]> {
  const subscriptions = new Map<Fact['type'], ReminderSubscription[]>();
  for (const reminder of reminders) {
    const tools = reminderTools(reminder);
    const byType = Map.groupBy(reminderTriggers(reminder).map(resolveTrigger), ({ type }) => type);
    for (const [type, meanings] of byType) {
      const matches: ReminderSubscription['matches'] = (event, about) =>
        meanings.some(({ test }) => !test || test(event)) &&
        (tools.length === 0 || tools.some((tool) => about.includes(tool)));
      subscriptions.set(type, [...(subscriptions.get(type) ?? []), { reminder, matches }]);
    }
  }
  return subscriptions;
}

/** Returns true if a reminder needs state. */
export const hasState = ({ cooldown, once }: ReminderDefinition): boolean => once === true || Boolean(cooldown);

/** Returns true if a note with this key belongs to this reminder. */
export const isNoteOf = (name: string, key: string): boolean => key === name || key.startsWith(`${name}/`);

/** Creates the view of a set of reminders. Only shown notes count: a note that a crash or an edit removed was never shown. */
export function reminderStateView(
  set: string,
  reminders: readonly ReminderDefinition[],
  subscriptions: ReadonlyMap<Fact['type'], readonly ReminderSubscription[]>,
): NamedView<ReminderState> {
  const names = reminders.filter(hasState).map(({ name }) => name);
  const statefulSubscriptions = new Map(
    [...subscriptions].map(([type, ofType]) => [type, ofType.filter(({ reminder }) => hasState(reminder))]),
  );
  return {
    name: `reminders/${set}`,
    initial: { calls: [], about: [], marks: {} },
    on(state, event) {
      const calls = updateOpenCalls(state.calls, event);
      const about = eventTools(event, state.calls, calls);
      const evaluated = (statefulSubscriptions.get(event.type) ?? noTools).filter(({ matches }) =>
        matches(event, about),
      );
      const shown = shownReminders(event, names);
      if (evaluated.length + shown.length === 0) return { calls, about, marks: state.marks };
      // One copy per event, however many reminders it concerns.
      const marks: Record<string, ReminderCounters> = { ...state.marks };
      const countersOf = (name: string): ReminderCounters => marks[name] ?? initialCounters;
      for (const { name } of evaluated.map(({ reminder }) => reminder))
        marks[name] = { ...countersOf(name), looks: countersOf(name).looks + 1 };
      for (const name of shown) {
        const { looks, shown: timesShown } = countersOf(name);
        marks[name] = { looks, shown: timesShown + 1, at: looks, turn: event.type === 'turn-started' ? event.turn : 0 };
      }
      return { calls, about, marks };
    },
    serialize: ({ marks }) => marks,
    restore: restoreReminderState,
  };
}

/** Returns which of these reminders a turn showed. */
const shownReminders = (event: Event, names: readonly string[]): readonly string[] =>
  event.type === 'turn-started' && event.notes.length
    ? names.filter((name) => event.notes.some(({ key }) => isNoteOf(name, key)))
    : [];

function restoreReminderState(stored: Json): ReminderState | undefined {
  if (!isObject(stored) || !Object.values(stored).every((counters) => hasSameShape(counters, initialCounters)))
    return undefined;
  return { calls: [], about: [], marks: stored as ReminderState['marks'] };
}

const noTools: readonly never[] = [];

/** Returns the tools of an event: those of the calls that were open before it, or that it opened. */
function eventTools(event: Event, before: readonly OpenCall[], after: readonly OpenCall[]): readonly string[] {
  if (event.type === 'turn-ended') return after.map(({ tool }) => tool);
  if (event.type === 'tool-started') return [event.tool];
  if (event.type === 'tool-ended' || event.type === 'approval-requested' || event.type === 'approval-resolved')
    return before.filter(({ id }) => id === event.call).map(({ tool }) => tool);
  return noTools;
}
