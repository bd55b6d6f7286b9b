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
  const watches = subscriptionsByFact(byName);
  const view = reminderStateView(set, byName, watches);
  const rule: Rule = (event, state) => {
    const seeds = reminderIntroNotes(event, state);
    const watching = watches.get(event.type);
    if (!watching) return seeds;
    const { about, marks } = readView(state, view);
    const concerned = watching.filter(({ matches }) => matches(event, about));
    if (concerned.length === 0) return seeds;
    const looking = createReminderContext(event, state);
    return [
      ...seeds,
      ...concerned.flatMap(({ reminder }) => reminderNotes(reminder, looking, marks[reminder.name] ?? initialCounters)),
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
  looking: ReminderContext,
  mark: ReminderCounters,
): readonly Note[] {
  if (isSuppressed(reminder, looking.state, mark)) return [];
  const { name, when, message, subject, priority, group, expiresAfter } = reminder;
  try {
    const speaks: unknown = when ? when(looking) : true;
    if (typeof speaks !== 'boolean') throw new TypeError('`when` returned neither true nor false.');
    if (!speaks) return [];
    const text: unknown = typeof message === 'function' ? message(looking) : message;
    if (typeof text !== 'string') throw new TypeError('it returned no text.');
    if (text === '') return [];
    return [
      {
        key: subject ? `${name}/${subject(looking)}` : name,
        text,
        ...(priority === undefined ? {} : { priority }),
        ...(group === undefined ? {} : { group }),
        ...(expiresAfter === undefined ? {} : { until: looking.state.turn + expiresAfter }),
      },
    ];
  } catch (error) {
    const why = `The reminder ${name} failed at ${looking.event.type} and added nothing: ${errorMessage(error).slice(0, 300)}`;
    return [{ key: `rule-failed/${name}`, text: why }];
  }
}

/** A note that is still in the queue counts as shown for `once` and the cooldown. */
function isSuppressed(reminder: ReminderDefinition, { queue, turn }: RunState, mark: ReminderCounters): boolean {
  if (!hasState(reminder)) return false;
  if (queue.some(({ key }) => isNoteOf(reminder.name, key))) return true;
  if (mark.shown === 0) return false;
  if (reminder.once) return true;
  const quiet = cooldownOf(reminder);
  return mark.looks - mark.at <= quiet.evaluations || turn - mark.turn < quiet.turns;
}
