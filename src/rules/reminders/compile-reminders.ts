// Compiles reminders to one rule, which evaluates those that an event concerns, and one view for their state.
import {
  readView,
  errorMessage,
  type Event,
  type NamedView,
  type Note,
  type Rule,
  type RunState,
} from '../../core/index.ts';
import { endedCall } from '../session-stats/selectors.ts';
import { sessionStats } from '../session-stats/view.ts';
import { reminderIntroNotes } from './system-prompt-section.ts';
import { validateReminder, cooldownOf, type ReminderContext, type ReminderDefinition } from './definition.ts';
import {
  isNoteOf,
  reminderStateView,
  initialCounters,
  hasState,
  subscriptionsByFact,
  type ReminderCounters,
} from './reminder-state.ts';

/** The parts of an agent that implement reminders. */
export type CompiledReminders = { readonly rules: readonly Rule[]; readonly views: readonly NamedView<unknown>[] };

/** A reminder that can be added to an agent, alone or in a rule set. */
export type DefinedReminder = ReminderDefinition & CompiledReminders;

/** Defines a reminder. It is an extension by itself, and can be part of a rule set. */
export const defineReminder = (reminder: ReminderDefinition): DefinedReminder => ({
  ...validateReminder(reminder),
  ...compileReminders(reminder.name, [reminder]),
});

/** Compiles reminders to one rule and one view, so that only those that an event concerns cost time. */
export function compileReminders(set: string, reminders: readonly ReminderDefinition[]): CompiledReminders {
  if (reminders.length === 0) return { rules: [], views: [] };
  const byName = [...new Map(reminders.map((reminder) => [reminder.name, validateReminder(reminder)])).values()];
  const subscriptions = subscriptionsByFact(byName);
  const view = reminderStateView(set, byName, subscriptions);
  const rule: Rule = (event, state) => {
    const introNotes = reminderIntroNotes(event, state);
    const candidates = subscriptions.get(event.type);
    if (!candidates) return introNotes;
    const { about, marks } = readView(state, view);
    const matching = candidates.filter(({ matches }) => matches(event, about));
    if (matching.length === 0) return introNotes;
    const context = createReminderContext(event, state);
    return [
      ...introNotes,
      ...matching.flatMap(({ reminder }) => reminderNotes(reminder, context, marks[reminder.name] ?? initialCounters)),
    ];
  };
  return { rules: [rule], views: [sessionStats, view] };
}

const createReminderContext = (event: Event, state: RunState): ReminderContext => ({
  event,
  state,
  // Most reminders do not use the call: it is computed on demand.
  get call() {
    return endedCall(state);
  },
  select: (view) => readView(state, view),
});

/** Returns the notes of a reminder for an event. A reminder that throws adds a note about it and does not affect the others. */
function reminderNotes(
  reminder: ReminderDefinition,
  context: ReminderContext,
  counters: ReminderCounters,
): readonly Note[] {
  if (isSuppressed(reminder, context.state, counters)) return [];
  const { name, when, message, subject, priority, group, expiresAfter } = reminder;
  try {
    const fires: unknown = when ? when(context) : true;
    if (typeof fires !== 'boolean') throw new TypeError('`when` returned neither true nor false.');
    if (!fires) return [];
    const text: unknown = typeof message === 'function' ? message(context) : message;
    if (typeof text !== 'string') throw new TypeError('it returned no text.');
    if (text === '') return [];
    return [
      {
        key: subject ? `${name}/${subject(context)}` : name,
        text,
        ...(priority === undefined ? {} : { priority }),
        ...(group === undefined ? {} : { group }),
        ...(expiresAfter === undefined ? {} : { until: context.state.turn + expiresAfter }),
      },
    ];
  } catch (error) {
    const why = `The reminder ${name} failed at ${context.event.type} and added nothing: ${errorMessage(error).slice(0, 300)}`;
    return [{ key: `rule-failed/${name}`, text: why }];
  }
}

/** A note that is still in the queue counts as shown for `once` and the cooldown. */
function isSuppressed(reminder: ReminderDefinition, { queue, turn }: RunState, counters: ReminderCounters): boolean {
  if (!hasState(reminder)) return false;
  if (queue.some(({ key }) => isNoteOf(reminder.name, key))) return true;
  if (counters.shown === 0) return false;
  if (reminder.once) return true;
  const cooldown = cooldownOf(reminder);
  return counters.looks - counters.at <= cooldown.evaluations || turn - counters.turn < cooldown.turns;
}
