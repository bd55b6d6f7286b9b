// Triggers of reminders: event types, or one of sixteen event names of other harnesses.
import { messageToolCalls, type Event, type Fact } from '../../core/index.ts';

/** An event name of other harnesses. */
export type ReminderEventName =
  | `agent_${'start' | 'end'}`
  | `tool_${'call' | 'result' | 'execution_start' | 'execution_end'}`
  | `turn_${'start' | 'end'}`
  | `message_${'start' | 'update' | 'end'}`
  | 'model_select'
  | `session_${'start' | 'compact' | 'switch' | 'fork'}`;

/** An event type, or an event name of other harnesses. */
export type ReminderTrigger = Fact['type'] | ReminderEventName;

/** An event type, and optionally a test of the event. */
export type TriggerMeaning = { readonly type: Fact['type']; readonly test?: (event: Event) => boolean };

const isEpochFor =
  (...reasons: readonly string[]) =>
  (event: Event): boolean =>
    event.type === 'epoch-started' && reasons.includes(event.reason);

/** What each of the sixteen names means. Nothing is recorded while an answer streams, so its updates map to its end. */
export const reminderEvents: Readonly<Record<ReminderEventName, TriggerMeaning>> = {
  agent_start: { type: 'run-started' },
  agent_end: { type: 'run-ended' },
  tool_call: {
    type: 'turn-ended',
    test: (event) => event.type === 'turn-ended' && messageToolCalls(event.message).length > 0,
  },
  tool_result: { type: 'tool-ended' },
  tool_execution_start: { type: 'tool-started' },
  tool_execution_end: { type: 'tool-ended' },
  turn_start: { type: 'turn-started' },
  turn_end: { type: 'turn-ended' },
  message_start: { type: 'turn-started' },
  message_update: { type: 'turn-ended' },
  message_end: { type: 'turn-ended' },
  model_select: { type: 'epoch-started', test: isEpochFor('model-changed') },
  session_start: { type: 'session-started' },
  session_compact: { type: 'epoch-started', test: isEpochFor('compacted') },
  session_switch: { type: 'branch-started' },
  session_fork: {
    type: 'session-started',
    test: (event) => event.type === 'session-started' && event.from !== undefined,
  },
};

const factTypes = {
  'session-started': true,
  'epoch-started': true,
  'compaction-failed': true,
  'branch-started': true,
  'input-received': true,
  'run-started': true,
  'turn-started': true,
  'turn-ended': true,
  'turn-failed': true,
  'answer-rejected': true,
  'approval-requested': true,
  'approval-resolved': true,
  'tool-started': true,
  'tool-ended': true,
  'check-ended': true,
  'run-ended': true,
  'annotation-added': true,
} as const satisfies Record<Fact['type'], true>;

/** All names that `on` accepts. */
export const allReminderTriggers: readonly ReminderTrigger[] = [
  ...(Object.keys(factTypes) as readonly Fact['type'][]),
  ...(Object.keys(reminderEvents) as readonly ReminderEventName[]),
];

/** Resolves a trigger to an event type and an optional test. */
export const resolveTrigger = (trigger: ReminderTrigger): TriggerMeaning =>
  Object.hasOwn(reminderEvents, trigger)
    ? reminderEvents[trigger as ReminderEventName]
    : { type: trigger as Fact['type'] };
