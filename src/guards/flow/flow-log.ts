// The part of the flow policy that every session loads: keeps the events that the policy reads. The policy itself is loaded for the first tool call.
import { isObject, type Event, type Json, type NamedView } from '../../core/index.ts';

/** The name of the view, and of annotations that give a sub-agent the state of its parent. */
export const flowViewName = 'flow';

/** The annotation that marks a log as that of a sub-agent: its inputs are written by the model of its parent. */
export const subagentAnnotation = 'agent';

/** A text without words: the model reads something that cannot be compared, such as an image. Every value may come from it. */
export const unreadableText = '…';

/** The events that the policy reads, the latest first, and what a baseline stored before them. */
export type FlowLog = {
  readonly event?: Event;
  /** Removed once a policy has read the log: it keeps what it needs, and older events would stay in memory. */
  previous?: FlowLog | undefined;
  /** What the policy read up to here, where older events were removed. */
  read?: object;
  /** How many events were not read yet. */
  readonly unread?: number;
  /** Whether no question of the policy was asked in the whole session, so that it has no answers. Absent: not known. */
  readonly isUnanswered?: boolean;
  /** A stored state that comes before the events. */
  readonly stored?: Json;
};

const readTypes: ReadonlySet<Event['type']> = new Set([
  'input-received',
  'turn-ended',
  'approval-requested',
  'approval-resolved',
  'tool-started',
  'tool-ended',
  'branch-started',
  'epoch-started',
  'annotation-added',
]);

/** Creates the view. `serialize` is set when the policy is loaded; before that the events themselves are stored. */
export function createFlowLogView(): NamedView<FlowLog> & { serializeState?: (log: FlowLog) => Json } {
  const view: NamedView<FlowLog> & { serializeState?: (log: FlowLog) => Json } = {
    name: flowViewName,
    isInherited: true,
    initial: { isUnanswered: true },
    on(log, event) {
      if (!readTypes.has(event.type)) return log;
      if (event.type === 'annotation-added' && event.key !== flowViewName && event.key !== subagentAnnotation)
        return log;
      return {
        event,
        previous: log,
        unread: log.read ? 1 : (log.unread ?? 0) + 1,
        isUnanswered: log.isUnanswered === true && !canAnswer(event),
      };
    },
    serialize: (log) =>
      view.serializeState?.(log) ?? { events: listEvents(log) as unknown as Json, stored: firstStored(log) },
    restore: (stored) => ({ stored }),
  };
  return view;
}

/** Whether an event can bring an answer into the session: by a question, or with the state of another session. */
const canAnswer = (event: Event): boolean =>
  (event.type === 'approval-requested' && event.by?.kind === 'flow') ||
  event.type === 'annotation-added' ||
  (event.type === 'epoch-started' && event.baseline !== undefined);

/** The events of a log, the oldest first. */
export function listEvents(log: FlowLog): readonly Event[] {
  const events: Event[] = [];
  for (let at: FlowLog | undefined = log; at; at = at.previous) if (at.event) events.push(at.event);
  return events.toReversed();
}

function firstStored(log: FlowLog): Json {
  let at = log;
  while (at.previous) at = at.previous;
  return at.stored ?? null;
}

/** Reads what `serialize` stored before the policy was loaded: events, and a state before them. */
export function readStoredEvents(
  stored: Json,
): { readonly events: readonly Event[]; readonly stored: Json } | undefined {
  return isObject(stored) && Array.isArray(stored['events'])
    ? { events: stored['events'] as unknown as readonly Event[], stored: stored['stored'] ?? null }
    : undefined;
}
