// Stop sequences: what a client is told ends before the first of them, though it comes in pieces.
import type { JsonObject } from '../../core/index.ts';
import { throwInvalidParam } from './errors.ts';

/** Lets text through up to a stop sequence. */
export type StopFilter = {
  /** What may be told of this piece; what could be the beginning of a stop sequence is kept back. */
  push(piece: string): string;
  /** What was kept back and was none. */
  flush(): string;
};

/** The stop sequences of a request. */
export function parseStopSequences({ stop }: JsonObject): readonly string[] {
  if (stop === undefined || stop === null) return [];
  const all = Array.isArray(stop) ? stop : [stop];
  if (all.length > 16 || !all.every((each) => typeof each === 'string' && each.length <= 1000))
    throwInvalidParam('stop', '`stop` has to be a text, or a list of texts.');
  return (all as readonly string[]).filter((each) => each !== '');
}

/** A cutter for these stop sequences. */
export function createStopFilter(stops: readonly string[]): StopFilter {
  const keep = Math.max(0, ...stops.map(({ length }) => length - 1));
  let kept = '';
  let isOver = false;
  return {
    push(piece) {
      if (isOver) return '';
      const text = kept + piece;
      const places = stops.map((stop) => text.indexOf(stop)).filter((at) => at >= 0);
      isOver = places.length > 0;
      const end = isOver ? Math.min(...places) : Math.max(0, text.length - keep);
      kept = isOver ? '' : text.slice(end);
      return text.slice(0, end);
    },
    flush() {
      const text = kept;
      kept = '';
      return text;
    },
  };
}
