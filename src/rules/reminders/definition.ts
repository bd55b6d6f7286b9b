// What a reminder is made from, and what is wrong with one that cannot be.
import { FairleadError, closestMatches, type Event, type NamedView, type RunState } from '../../core/index.ts';
import type { ExampleStep } from '../testing/fixture-log.ts';
import type { EndedCall } from '../session-stats/open-calls.ts';
import { allReminderTriggers, type ReminderTrigger } from './triggers.ts';

/** What a reminder's functions may look at. They are pure: the same log decides the same, whenever it is read. */
export type ReminderContext = {
  readonly event: Event;
  /** The state after the event; every question about the history takes it. */
  readonly state: RunState;
  /** The call that the event settled, if it settled one. */
  readonly call: EndedCall | undefined;
  readonly select: <S>(view: NamedView<S>) => S;
};

/** How long a reminder keeps quiet after it was shown; where both are given, both must have passed. */
export type Cooldown = number | { readonly evaluations?: number; readonly turns?: number };

/** A history, and whether the reminder must speak up at its last event. */
export type ReminderExample = {
  readonly title: string;
  readonly history: readonly ExampleStep[];
  readonly fires: boolean;
};

/** A reminder: when it is looked at, when it speaks up, and what it says. */
export type ReminderDefinition = {
  /** The name in its tag and its key in the queue. */
  readonly name: string;
  /** Facts, or events by the names that other harnesses use; `tool-ended` where only a tool is given. */
  readonly on?: ReminderTrigger | readonly ReminderTrigger[];
  /** Only where the event is about this tool, or one of these. */
  readonly tool?: string | readonly string[];
  /** Whether to speak up; always, where it is not given. */
  readonly when?: (looking: ReminderContext) => boolean;
  readonly message: string | ((looking: ReminderContext) => string);
  /** What it is about, where one reminder may be about several things at once: each is shown once. */
  readonly subject?: (looking: ReminderContext) => string;
  /** A number counts evaluations: that many are passed over after it was shown. */
  readonly cooldown?: Cooldown;
  /** Shown once in a session at most. */
  readonly once?: boolean;
  /** 100 and more is safety. */
  readonly priority?: number;
  readonly group?: string;
  /** Turns after which it is no longer worth showing; without it, it waits until it is shown. */
  readonly expiresAfter?: number;
  readonly examples?: readonly ReminderExample[];
};

/** When it is looked at. */
export const reminderTriggers = ({ on, tool }: ReminderDefinition): readonly ReminderTrigger[] =>
  on === undefined ? (tool === undefined ? [] : ['tool-ended']) : typeof on === 'string' ? [on] : on;

/** The tools it is bound to; none where it is bound to none. */
export const reminderTools = ({ tool }: ReminderDefinition): readonly string[] =>
  tool === undefined ? [] : typeof tool === 'string' ? [tool] : tool;

/** How many evaluations and turns it keeps quiet. */
export const cooldownOf = ({
  cooldown = 0,
}: ReminderDefinition): { readonly evaluations: number; readonly turns: number } =>
  typeof cooldown === 'number'
    ? { evaluations: cooldown, turns: 0 }
    : { evaluations: cooldown.evaluations ?? 0, turns: cooldown.turns ?? 0 };

const isNonNegativeInteger = (value: number): boolean => Number.isInteger(value) && value >= 0;

/** What is wrong with a reminder, a sentence each. */
export function reminderErrors(reminder: ReminderDefinition): readonly string[] {
  const { name, message, expiresAfter, priority } = reminder;
  const quiet = cooldownOf(reminder);
  const wrong = reminderTriggers(reminder).filter((trigger) => !allReminderTriggers.includes(trigger));
  return [
    ...(/^(?!__)[\w.-]{1,60}$/.test(name)
      ? []
      : [
          `The name "${name}" must be 1 to 60 letters, digits, dots, dashes or underscores, and not begin with two of those.`,
        ]),
    ...(reminderTriggers(reminder).length ? [] : ['It says neither `on` nor `tool`, so it would never be looked at.']),
    ...wrong.map((trigger) => `There is no event named "${trigger}"${formatSuggestion(trigger)}.`),
    ...(typeof message === 'function' || message.trim() !== '' ? [] : ['Its message is empty.']),
    ...(isNonNegativeInteger(quiet.evaluations) && isNonNegativeInteger(quiet.turns)
      ? []
      : ['Its cooldown must be a whole number of at least 0.']),
    ...(expiresAfter === undefined || (isNonNegativeInteger(expiresAfter) && expiresAfter > 0)
      ? []
      : ['`expiresAfter` must be a whole number of turns, at least 1.']),
    ...(priority === undefined || Number.isFinite(priority) ? [] : ['Its priority must be a number.']),
  ];
}

const formatSuggestion = (word: string): string => {
  const [near] = closestMatches(word, allReminderTriggers);
  return near === undefined ? '' : `; did you mean "${near}"`;
};

/** The same reminder, if there is nothing wrong with it. */
export function validateReminder(reminder: ReminderDefinition): ReminderDefinition {
  const faults = reminderErrors(reminder);
  if (faults.length === 0) return reminder;
  throw new FairleadError('rules/bad-reminder', `The reminder ${reminder.name} cannot be used: ${faults.join(' ')}`, {
    blame: 'user',
  });
}
