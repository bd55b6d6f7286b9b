// Keeps recorded events until their spans are built. Building the spans of many events at once takes a quarter of the time that it takes between the steps of a run, whose code and data displace those of the builder from the caches of the processor.
import type { Event, RunState } from '../core/index.ts';
import type { RunPlace } from './session-places.ts';
import type { TraceBuilder } from './trace-builder.ts';

/** The run of an event, and the builder of its session. */
export type PlacedEvent = { readonly builder: TraceBuilder; readonly run: RunPlace | undefined };

/** The bounds of a buffer, and what it calls. */
export type EventBufferOptions = {
  readonly maxEvents: number;
  /** Finds the run of an event; called once for each event, in their order. */
  readonly place: (event: Event, state: RunState) => PlacedEvent;
  /** Called when the first event waits. */
  readonly onWaiting: () => void;
  /** Called with an error of a builder. */
  readonly onError: (error: unknown) => void;
};

/** The max characters of results of tools that wait: they are the largest part of the events. */
const maxWaitingChars = 4_000_000;
/** The max states that are kept for events without a place. */
const maxStates = 64;

/** A bounded buffer: if it is full, the spans are built at once. */
export class EventBuffer {
  readonly #options: EventBufferOptions;
  #events: Event[] = [];
  #placed: PlacedEvent[] = [];
  /** The states of the events after those that have a place. */
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
    else if (states >= maxStates) this.place();
  }

  /** Finds the runs of all events that wait. */
  place(): void {
    const states = this.#states;
    if (states.length === 0) return;
    this.#states = [];
    for (const state of states) {
      const event = this.#events[this.#placed.length];
      if (event) this.#placed.push(this.#options.place(event, state));
    }
  }

  /** Builds the spans of all events that wait, in their order. */
  build(): void {
    if (this.#events.length === 0) return;
    this.place();
    const [events, placed] = [this.#events, this.#placed];
    [this.#events, this.#placed, this.#chars] = [[], [], 0];
    for (const [i, { builder, run }] of placed.entries()) {
      const event = events[i];
      try {
        if (event) builder.build(event, run);
      } catch (error) {
        this.#options.onError(error);
      }
    }
  }
}
