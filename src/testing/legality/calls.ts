// The one rule of all dialects: each call is answered once, directly after it and in order.
import { illegal } from './demand.ts';

/** The calls that wait for their results. */
export type OpenCalls = {
  /** A call was made. */
  call(id: string, where: string): void;
  /** A call was answered. */
  result(id: string, where: string): void;
  /** Something came that may only come when nothing is open. */
  settled(where: string): void;
  /** Whether any call waits. */
  readonly waiting: boolean;
};

/** Watches over calls and their results. */
export function openCalls(): OpenCalls {
  const ever = new Set<string>();
  let open: string[] = [];
  let answering = false;
  return {
    get waiting() {
      return open.length > 0;
    },
    call(id, where) {
      if (ever.has(id)) illegal(where, `makes a second call with the id ${id}.`);
      if (answering && open.length) illegal(where, `makes a new call while ${open.join(', ')} has no result.`);
      ever.add(id);
      open.push(id);
      answering = false;
    },
    result(id, where) {
      const place = open.indexOf(id);
      if (place < 0)
        illegal(
          where,
          ever.has(id)
            ? `is a second result for ${id}, or one that does not come directly after its call.`
            : `is a result for ${id}, which nobody called.`,
        );
      if (place > 0) illegal(where, `is the result for ${id}, but the next in order is the one for ${open[0]}.`);
      open = open.slice(1);
      answering = true;
    },
    settled(where) {
      if (open.length)
        illegal(where, `comes before the ${open.length === 1 ? 'result' : 'results'} for ${open.join(', ')}.`);
    },
  };
}
