// A scripted model that uses deferred tools: it loads them first, then makes its calls.
import type { JsonObject } from '../../src/core/index.ts';
import { calls, joinResponses, says, type Script } from '../../src/testing/index.ts';

/** A call of a deferred tool: its name and its input. */
export type HiddenToolCall = readonly [tool: string, input: JsonObject];

/** Loads the tools, makes these calls (each list in parallel), and answers with the results of the last list. */
export const scriptHiddenCalls =
  (...rounds: readonly (readonly HiddenToolCall[])[]): Script<JsonObject> =>
  ({ results }) => {
    const names = [...new Set(rounds.flat().map(([tool]) => tool))];
    if (results.length === 0) return calls('load_tools', { names });
    let done = 1;
    for (const round of rounds) {
      if (results.length <= done)
        return joinResponses(round.map(([tool, input]) => calls('use_tool', { tool, input })));
      done += round.length;
    }
    return says(`Heard: ${results.slice(-(rounds.at(-1)?.length ?? 0)).join(' | ')}`);
  };
