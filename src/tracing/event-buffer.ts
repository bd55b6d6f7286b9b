// Keeps recorded events until their spans are built. Many spans at once are built in a quarter of the time: between the steps of a run, the code and data of the builder are no longer in the caches of the processor.
import type { Event, RunState } from '../core/index.ts';
import type { RunSpanContexts, RunStart } from './session-contexts.ts';
import type { TraceBuilder } from './trace-builder.ts';

/** The run of an event, and the builder of its session. */
export type TracedEvent = { readonly builder: TraceBuilder; readonly run: RunSpanContexts | undefined };

/** The bounds of a buffer, and what it calls. */
export type EventBufferOptions = {
  readonly maxEvents: number;
  /** Finds the run of an event; called once for each event, in their order. */
  readonly findRun: (event: Event, state: RunState) => TracedEvent;
  /** Called when the first event waits. */
  readonly onWaiting: () => void;
  /** Called with an error of a builder. */
  readonly onError: (error: unknown) => void;
};

type RunChange = Event & { readonly type: 'run-started' | 'run-ended' | 'annotation-added' };

const isRunChange = (event: Event): event is RunChange =>
  event.type === 'run-started' || event.type === 'run-ended' || event.type === 'annotation-added';

/** The max characters of results of tools that wait: they are the largest part of the events. */
const maxWaitingChars = 4_000_000;
/** The max states that are kept for events whose run was not looked for yet. */
const maxStates = 64;

/** A bounded buffer: if it is full, the spans are built at once. */
export class EventBuffer {
  readonly #options: EventBufferOptions;
  #events: Event[] = [];
  #traced: TracedEvent[] = [];
  /** The states of the events after those whose run is known. */
  #states: RunState[] = [];
  #chars = 0;
  /** The last event after which another run is active, of those whose run is not known, and its session. A note stays, because it can name the parent of the runs after it. */
  #change: RunChange | undefined;
  #changeSession = '';

  constructor(options: EventBufferOptions) {
    this.#options = options;
  }

  /** Adds an event and the state after it. */
  add(event: Event, state: RunState): void {
    const count = this.#events.push(event);
    const states = this.#states.push(state);
    if (event.type === 'tool-ended') this.#chars += event.text.length;
    else if (isRunChange(event) && this.#change?.type !== 'annotation-added')
      [this.#change, this.#changeSession] = [event, state.session];
    if (count >= this.#options.maxEvents || this.#chars >= maxWaitingChars) this.build();
    else if (count === 1) this.#options.onWaiting();
    else if (states >= maxStates) this.findRuns();
  }

  /** The run of a turn that the last event started, without finding the runs of the other events: the event that started it, or `known` if it was found before. Undefined if only the other events tell. */
  findStart({ session, turn }: RunState): RunStart | 'known' | undefined {
    const last = this.#events.at(-1);
    if (last?.type !== 'turn-started' || last.turn !== turn || this.#states.at(-1)?.session !== session)
      return undefined;
    if (!this.#change) return 'known';
    return this.#change.type === 'run-started' && this.#changeSession === session ? this.#change : undefined;
  }

  /** Finds the runs of all events that wait. */
  findRuns(): void {
    const [states, events, traced] = [this.#states, this.#events, this.#traced];
    if (states.length === 0) return;
    [this.#states, this.#change] = [[], undefined];
    for (const state of states) {
      const event = events[traced.length];
      if (event) traced.push(this.#options.findRun(event, state));
    }
  }

  /** Builds the spans of all events that wait, in their order. */
  build(): void {
    if (this.#events.length === 0) return;
    this.findRuns();
    const [events, traced] = [this.#events, this.#traced];
    [this.#events, this.#traced, this.#chars] = [[], [], 0];
    // Without entries(), which creates a pair for each event.
    let next = 0;
    for (const { builder, run } of traced) {
      const event = events[next++];
      try {
        if (event) builder.build(event, run);
      } catch (error) {
        this.#options.onError(error);
      }
    }
  }
}
