// Keeps recorded events until their spans are built. Many spans at once are built in a quarter of the time: between the steps of a run, the code and data of the builder are no longer in the caches of the processor.
import type { Event, RunState } from '../core/index.ts';
import type { RunSpanContexts } from './session-contexts.ts';
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

  constructor(options: EventBufferOptions) {
    this.#options = options;
  }

  /** Adds an event and the state after it. */
  add(event: Event, state: RunState): void {
    const count = this.#events.push(event);
    const states = this.#states.push(state);
    if (event.type === 'tool-ended') this.#chars += event.text.length;
    if (count >= this.#options.maxEvents || this.#chars >= maxWaitingChars) this.build();
    else if (count === 1) this.#options.onWaiting();
    else if (states >= maxStates) this.findRuns();
  }

  /** Finds the runs of all events that wait. */
  findRuns(): void {
    const [states, events, traced] = [this.#states, this.#events, this.#traced];
    if (states.length === 0) return;
    this.#states = [];
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
    for (const [i, { builder, run }] of traced.entries()) {
      const event = events[i];
      try {
        if (event) builder.build(event, run);
      } catch (error) {
        this.#options.onError(error);
      }
    }
  }
}
