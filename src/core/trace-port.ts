// The interface of a tracer: it observes every event of a session, and names the span that a request belongs to.
import type { Event } from './fact.ts';
import type { RunState } from './state.ts';
import type { TraceContext } from './trace-context.ts';

/** Observes the sessions of an agent and of its sub-agents. It must not throw, and it must return at once. */
export interface TracePort {
  /** Called with each event of a session after it is recorded, and with the state after it. */
  onEvent(event: Event, state: RunState): void;
  /** The context of the active model call, or of the tool call with this idempotency key, for requests to other services; undefined if it is not traced. */
  contextOf(state: RunState, key?: string): TraceContext | undefined;
}
