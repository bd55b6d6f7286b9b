// A call of spawn_agent with "read" and "schema" starts a sub-agent that only reads: without tools, and with values of the schema as its report.
import { isObject, isToolOutput, wrapUntrusted, type Json, type Tool } from '../../core/index.ts';

/** The tool that decides by the input whether a sub-agent only reads. */
export const createSpawnReader = (spawn: Tool, reader: Tool): Tool => ({
  ...spawn,
  needsApproval: async (given, state) => {
    const read = toReaderInput(given);
    return (await (read === undefined ? spawn : reader).needsApproval?.(read ?? given, state)) ?? false;
  },
  execute: async (given, context) => {
    const read = toReaderInput(given);
    if (read === undefined) return spawn.execute(given, context);
    const output: unknown = await reader.execute(read, context);
    // Reports of sub-agents are not marked as text from outside; this one has strings of a third party.
    return isToolOutput(output) ? { ...output, text: wrapUntrusted('a quarantined reader', output.text) } : output;
  },
});

function toReaderInput(given: Json): Json | undefined {
  const { task, read, schema } = isObject(given) ? given : {};
  return read === undefined && schema === undefined
    ? undefined
    : ({ from: read ?? '', question: task, schema: schema ?? {} } as Json);
}
