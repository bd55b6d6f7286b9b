// Tool calls of a program (run_code): validated against the schema and evaluated by the same gates as calls of the model. Only read-only tools are allowed.
import {
  evaluateGates,
  FairleadError,
  isToolOutput,
  toJson,
  type Json,
  type Tool,
  type ToolContext,
} from '../../core/index.ts';

/** Read-only tools that make no sense inside a program. */
const excludedTools: ReadonlySet<string> = new Set(['run_code', 'load_tools', 'ask_user', 'todo', 'canvas_render']);

/** Returns the tools that a program of this call may use. */
export const programTools = ({ agent, state }: ToolContext): readonly Tool[] =>
  [...new Set(agent.tools.values())].filter(
    (tool) =>
      tool.effect === 'read' && !excludedTools.has(tool.name) && (!tool.deferred || state.loaded.includes(tool.name)),
  );

/** Runs a tool call inside another one and returns its text and data. Throws if it needs approval, is denied or fails. */
export async function makeChildCall(name: string, input: Json, number: number, context: ToolContext): Promise<Json> {
  const tool = programTools(context).find((each) => each.name === name);
  if (!tool) throw childCallError(`There is no tool named ${name} here.`);
  assertValidInput(tool, input);
  const call = { id: `${context.call.id}.${number}`, tool: tool.name, input };
  const ruling = await evaluateGates(context.agent, call, context.state);
  if (ruling.type === 'ask')
    throw childCallError(
      `${name} needs the approval of the user first (${ruling.question}): call it directly, not in a program.`,
    );
  if (ruling.type === 'deny') throw childCallError(ruling.reason);
  if (ruling.input !== input) assertValidInput(tool, ruling.input);
  const value: unknown = await tool.execute(ruling.input, { ...context, call, key: `${context.key}.${number}` });
  if (!isToolOutput(value)) return { text: typeof value === 'string' ? value : JSON.stringify(toJson(value)) };
  if (value.failed) throw childCallError(value.text);
  return { text: value.text, ...(value.data === undefined ? {} : { data: toJson(value.data) }) };
}

function assertValidInput(tool: Tool, input: Json): void {
  const invalidReason = tool.validate?.(input);
  if (invalidReason !== undefined)
    throw childCallError(`The arguments do not match the schema of ${tool.name}: ${invalidReason}`);
}

const childCallError = (sentence: string): FairleadError =>
  new FairleadError('tool/refused', sentence, { blame: 'model' });
