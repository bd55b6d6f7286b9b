// Keeps recorded events until their spans are built. Building the spans of many events at once takes a quarter of the time that it takes between the steps of a run, whose code and data displace those of the builder from the caches of the processor.
import type { Event } from '../core/index.ts';
import type { RunPlace } from './session-places.ts';
import type { TraceBuilder } from './trace-builder.ts';

/** The bounds of a buffer, and what it calls. */
export type EventBufferOptions = {
  readonly maxEvents: number;
  /** Called when the first event waits. */
  readonly onWaiting: () => void;
  /** Called with an error of a builder. */
  readonly onError: (error: unknown) => void;
};

type WaitingEvent = { readonly builder: TraceBuilder; readonly event: Event; readonly run: RunPlace | undefined };

/** The max characters of results of tools that wait: they are the largest part of the events. */
const maxWaitingChars = 4_000_000;

/** A bounded buffer: if it is full, the spans are built at once. */
export class EventBuffer {
  readonly #options: EventBufferOptions;
  #waiting: WaitingEvent[] = [];
  #chars = 0;

  constructor(options: EventBufferOptions) {
    this.#options = options;
  }

  /** Adds an event for the builder of its session. */
  add(builder: TraceBuilder, event: Event, run: RunPlace | undefined): void {
    const { maxEvents, onWaiting } = this.#options;
    const count = this.#waiting.push({ builder, event, run });
    if (event.type === 'tool-ended') this.#chars += event.text.length;
    if (count >= maxEvents || this.#chars >= maxWaitingChars) this.build();
    else if (count === 1) onWaiting();
  }

  /** Builds the spans of all events that wait, in their order. */
  build(): void {
    const waiting = this.#waiting;
    if (waiting.length === 0) return;
    [this.#waiting, this.#chars] = [[], 0];
    for (const { builder, event, run } of waiting)
      try {
        builder.build(event, run);
      } catch (error) {
        this.#options.onError(error);
      }
  }
}
