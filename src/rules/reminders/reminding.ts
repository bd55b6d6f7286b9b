// Reminders as what an agent carries: one rule that looks at those an event concerns, and one view that remembers for them.
import {
  readView,
  errorMessage,
  type Event,
  type NamedView,
  type Note,
  type Rule,
  type RunState,
} from '../../core/index.ts';
import { endedCall } from '../history/questions.ts';
import { history } from '../history/view.ts';
import { seed } from './awareness.ts';
import { checked, quietOf, type Looking, type ReminderDefinition } from './definition.ts';
import { isOf, marksView, neverShown, remembers, watchesOf, type ReminderMark } from './marks.ts';

/** The parts of an agent that remind. */
export type Reminding = { readonly rules: readonly Rule[]; readonly views: readonly NamedView<unknown>[] };

/** A reminder that is ready to be given to an agent, alone or in a set. */
export type DefinedReminder = ReminderDefinition & Reminding;

/** Defines a reminder. It is an extension by itself, and can be one of a rule set. */
export const defineReminder = (reminder: ReminderDefinition): DefinedReminder => ({
  ...checked(reminder),
  ...reminding(reminder.name, [reminder]),
});

/** These reminders as one rule and one view, so that many of them cost little more than those an event concerns. */
export function reminding(set: string, reminders: readonly ReminderDefinition[]): Reminding {
  if (reminders.length === 0) return { rules: [], views: [] };
  const byName = [...new Map(reminders.map((reminder) => [reminder.name, checked(reminder)])).values()];
  const watches = watchesOf(byName);
  const view = marksView(set, byName, watches);
  const rule: Rule = (event, state) => {
    const seeds = seed(event, state);
    const watching = watches.get(event.type);
    if (!watching) return seeds;
    const { about, marks } = readView(state, view);
    const concerned = watching.filter(({ concerns }) => concerns(event, about));
    if (concerned.length === 0) return seeds;
    const looking = lookingAt(event, state);
    return [
      ...seeds,
      ...concerned.flatMap(({ reminder }) => noteOf(reminder, looking, marks[reminder.name] ?? neverShown)),
    ];
  };
  return { rules: [rule], views: [history, view] };
}

const lookingAt = (event: Event, state: RunState): Looking => ({
  event,
  state,
  // Most reminders never ask: the history is folded for those that do.
  get call() {
    return endedCall(state);
  },
  look: (view) => readView(state, view),
});

/** What a reminder has to say now. One that fails says so, and silences no other. */
function noteOf(reminder: ReminderDefinition, looking: Looking, mark: ReminderMark): readonly Note[] {
  if (isQuiet(reminder, looking.state, mark)) return [];
  const { name, when, message, about, priority, group, expiresAfter } = reminder;
  try {
    const speaks: unknown = when ? when(looking) : true;
    if (typeof speaks !== 'boolean') throw new TypeError('`when` gave neither true nor false.');
    if (!speaks) return [];
    const text: unknown = typeof message === 'function' ? message(looking) : message;
    if (typeof text !== 'string') throw new TypeError('it gave no text.');
    if (text === '') return [];
    return [
      {
        key: about ? `${name}/${about(looking)}` : name,
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

/** One that waits in the queue has spoken already, as far as `once` and a cooldown go. */
function isQuiet(reminder: ReminderDefinition, { queue, turn }: RunState, mark: ReminderMark): boolean {
  if (!remembers(reminder)) return false;
  if (queue.some(({ key }) => isOf(reminder.name, key))) return true;
  if (mark.shown === 0) return false;
  if (reminder.once) return true;
  const quiet = quietOf(reminder);
  return mark.looks - mark.at <= quiet.evaluations || turn - mark.turn < quiet.turns;
}
