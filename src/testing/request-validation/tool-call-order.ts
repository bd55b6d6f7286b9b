// The rule that all wire formats share: each call gets one result, directly after it and in order.
import { failValidation } from './assertions.ts';

/** Tracks the calls without results. */
export type ToolCallTracker = {
  /** Adds a call. */
  call(id: string, where: string): void;
  /** Adds the result of a call. */
  result(id: string, where: string): void;
  /** Asserts that no call is open before another message. */
  assertNoneOpen(where: string): void;
  /** Whether any call is open. */
  readonly hasOpenCalls: boolean;
};

/** Creates a tracker of calls and their results. */
export function createToolCallTracker(): ToolCallTracker {
  const ever = new Set<string>();
  let open: string[] = [];
  let answering = false;
  return {
    get hasOpenCalls() {
      return open.length > 0;
    },
    call(id, where) {
      if (ever.has(id)) failValidation(where, `makes a second call with the id ${id}.`);
      if (answering && open.length) failValidation(where, `makes a new call while ${open.join(', ')} has no result.`);
      ever.add(id);
      open.push(id);
      answering = false;
    },
    result(id, where) {
      const place = open.indexOf(id);
      if (place < 0)
        failValidation(
          where,
          ever.has(id)
            ? `is a second result for ${id}, or one that does not come directly after its call.`
            : `is a result for ${id}, which was not called.`,
        );
      if (place > 0) failValidation(where, `is the result for ${id}, but the next in order is the one for ${open[0]}.`);
      open = open.slice(1);
      answering = true;
    },
    assertNoneOpen(where) {
      if (open.length)
        failValidation(where, `comes before the ${open.length === 1 ? 'result' : 'results'} for ${open.join(', ')}.`);
    },
  };
}
