// The definition of a reminder, and its validation.
import { FairleadError, closestMatches, type Event, type NamedView, type RunState } from '../../core/index.ts';
import type { ExampleStep } from '../testing/fixture-log.ts';
import type { EndedCall } from '../session-stats/open-calls.ts';
import { allReminderTriggers, type ReminderTrigger } from './triggers.ts';

/** The context of a reminder's functions. They must be pure: the same log must give the same result at any time. */
export type ReminderContext = {
  readonly event: Event;
  /** The state after the event, for the selectors. */
  readonly state: RunState;
  /** The call that the event ended, if any. */
  readonly call: EndedCall | undefined;
  readonly select: <S>(view: NamedView<S>) => S;
};

/** How long a reminder is suppressed after it was shown. If both are given, both must have passed. */
export type Cooldown = number | { readonly evaluations?: number; readonly turns?: number };

/** A history, and whether the reminder must fire at its last event. */
export type ReminderExample = {
  readonly title: string;
  readonly history: readonly ExampleStep[];
  readonly fires: boolean;
};

/** A reminder: when it is evaluated, when it fires, and its message. */
export type ReminderDefinition = {
  /** The name in its tag, and its key in the note queue. */
  readonly name: string;
  /** Event types, or event names of other harnesses. Default `tool-ended` if a tool is given. */
  readonly on?: ReminderTrigger | readonly ReminderTrigger[];
  /** Evaluates only events of this tool, or one of these. */
  readonly tool?: string | readonly string[];
  /** Whether to fire. Default: always. */
  readonly when?: (context: ReminderContext) => boolean;
  /** The text for the model, or a function that returns it; an empty text adds nothing. */
  readonly message: string | ((context: ReminderContext) => string);
  /** The subject, if one reminder can apply to several things at once: each is shown once. */
  readonly subject?: (context: ReminderContext) => string;
  /** A number counts evaluations that are skipped after it was shown. */
  readonly cooldown?: Cooldown;
  /** Shown at most once per session. */
  readonly once?: boolean;
  /** 100 and above is for safety. */
  readonly priority?: number;
  /** Notes of one group are sent together. */
  readonly group?: string;
  /** Turns after which it is dropped from the queue. By default it stays until it is shown. */
  readonly expiresAfter?: number;
  /** Situations in which it must, or must not, fire; `runRuleSetExamples` runs them. */
  readonly examples?: readonly ReminderExample[];
};

/** Returns the triggers of a reminder. */
export const reminderTriggers = ({ on, tool }: ReminderDefinition): readonly ReminderTrigger[] =>
  on === undefined ? (tool === undefined ? [] : ['tool-ended']) : typeof on === 'string' ? [on] : on;

/** Returns the tools of a reminder; empty if it applies to all. */
export const reminderTools = ({ tool }: ReminderDefinition): readonly string[] =>
  tool === undefined ? [] : typeof tool === 'string' ? [tool] : tool;

/** Returns for how many evaluations and turns the reminder is suppressed. */
export const cooldownOf = ({
  cooldown = 0,
}: ReminderDefinition): { readonly evaluations: number; readonly turns: number } =>
  typeof cooldown === 'number'
    ? { evaluations: cooldown, turns: 0 }
    : { evaluations: cooldown.evaluations ?? 0, turns: cooldown.turns ?? 0 };

const isNonNegativeInteger = (value: number): boolean => Number.isInteger(value) && value >= 0;

/** Returns the errors of a definition, one sentence each. */
export function reminderErrors(reminder: ReminderDefinition): readonly string[] {
  const { name, message, expiresAfter, priority } = reminder;
  const suppressed = cooldownOf(reminder);
  const unknownTriggers = reminderTriggers(reminder).filter((trigger) => !allReminderTriggers.includes(trigger));
  return [
    ...(/^(?!__)[\w.-]{1,60}$/.test(name)
      ? []
      : [
          `The name "${name}" must be 1 to 60 letters, digits, dots, dashes or underscores, and not start with two underscores.`,
        ]),
    ...(reminderTriggers(reminder).length ? [] : ['It has neither `on` nor `tool`, so it would never be evaluated.']),
    ...unknownTriggers.map((trigger) => `There is no event named "${trigger}"${formatSuggestion(trigger)}.`),
    ...(typeof message === 'function' || message.trim() !== '' ? [] : ['Its message is empty.']),
    ...(isNonNegativeInteger(suppressed.evaluations) && isNonNegativeInteger(suppressed.turns)
      ? []
      : ['Its cooldown must be an integer of at least 0.']),
    ...(expiresAfter === undefined || (isNonNegativeInteger(expiresAfter) && expiresAfter > 0)
      ? []
      : ['`expiresAfter` must be an integer number of turns, at least 1.']),
    ...(priority === undefined || Number.isFinite(priority) ? [] : ['Its priority must be a number.']),
  ];
}

const formatSuggestion = (word: string): string => {
  const [closest] = closestMatches(word, allReminderTriggers);
  return closest === undefined ? '' : `; did you mean "${closest}"`;
};

/** Returns the reminder if it is valid. Throws otherwise. */
export function validateReminder(reminder: ReminderDefinition): ReminderDefinition {
  const errors = reminderErrors(reminder);
  if (errors.length === 0) return reminder;
  throw new FairleadError('rules/bad-reminder', `The reminder ${reminder.name} cannot be used: ${errors.join(' ')}`, {
    blame: 'user',
  });
}
