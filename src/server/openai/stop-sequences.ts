// Stop sequences: the text that a client gets ends before the first of them, also in a stream.
import type { JsonObject } from '../../core/index.ts';
import { throwInvalidParam } from './errors.ts';

/** Cuts a text at the first stop sequence. */
export type StopFilter = {
  /** Returns the text that can be sent; text that may be the start of a stop sequence is held. */
  push(piece: string): string;
  /** Returns the held text at the end. */
  flush(): string;
};

/** Parses the stop sequences of a request. */
export function parseStopSequences({ stop }: JsonObject): readonly string[] {
  if (stop === undefined || stop === null) return [];
  const all = Array.isArray(stop) ? stop : [stop];
  if (all.length > 16 || !all.every((each) => typeof each === 'string' && each.length <= 1000))
    throwInvalidParam('stop', '`stop` must be a string or an array of strings.');
  return (all as readonly string[]).filter((each) => each !== '');
}

/** Creates a filter for these stop sequences. */
export function createStopFilter(stops: readonly string[]): StopFilter {
  const heldChars = Math.max(0, ...stops.map(({ length }) => length - 1));
  let held = '';
  let isStopped = false;
  return {
    push(piece) {
      if (isStopped) return '';
      const text = held + piece;
      const positions = stops.map((stop) => text.indexOf(stop)).filter((at) => at >= 0);
      isStopped = positions.length > 0;
      const end = isStopped ? Math.min(...positions) : Math.max(0, text.length - heldChars);
      held = isStopped ? '' : text.slice(end);
      return text.slice(0, end);
    },
    flush() {
      const text = held;
      held = '';
      return text;
    },
  };
}
