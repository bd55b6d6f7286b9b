// Runs a quarantined read: finds the text by the agent's own tools and gates, asks the reader, and returns values or an error without the text.
import {
  assertRunBudget,
  evaluateGates,
  FairleadError,
  isToolOutput,
  readView,
  toolOutput,
  type Json,
  type ResolvedAgent,
  type RunState,
  type Tool,
  type ToolCall,
  type ToolContext,
  type ToolOutput,
} from '../../core/index.ts';
import { askQuarantined, maxPartChars } from './ask-quarantined.ts';
import { parseQuarantineSchema } from './quarantine-schema.ts';
import { createHandle } from './create-handle.ts';
import { quarantineView } from './quarantine-view.ts';
import { readQuarantinedName, type ReadQuarantinedInput, type ReadQuarantinedOptions } from './read-tool.ts';

/** The call of another tool that gets the text; undefined for a handle. */
function toSourceCall({ from, offset }: ReadQuarantinedInput, id: string, state: RunState): ToolCall | undefined {
  if (findHeld(from, state)) return undefined;
  const range = offset === undefined || offset === 0 ? {} : { offset };
  return /^https?:\/\//i.test(from)
    ? { id, tool: 'web_fetch', input: { url: from, ...range } }
    : { id, tool: 'read_file', input: { path: from, ...range } };
}

const findHeld = (from: string, state: RunState): { readonly tool: string; readonly text: string } | undefined =>
  state.viewStates.views.some((view) => view === quarantineView)
    ? readView(state, quarantineView).findLast(({ handle }) => handle === from)
    : undefined;

/** The question that the gates have about what is read; false if they have none. A call that they deny fails when it runs. */
export async function findReadQuestion(
  agent: ResolvedAgent,
  input: ReadQuarantinedInput,
  state: RunState,
): Promise<string | false> {
  const call = toSourceCall(input, 'quarantine', state);
  const ruling = call && agent.tools.has(call.tool) ? await evaluateGates(agent, call, state) : undefined;
  return ruling?.type === 'ask' ? ruling.question : false;
}

/** Reads. What fails says nothing of the text. */
export async function runRead(
  input: ReadQuarantinedInput,
  context: ToolContext,
  { openModel, agent }: ReadQuarantinedOptions,
): Promise<ToolOutput> {
  const { state, signal } = context;
  const schema = parseQuarantineSchema(input.schema);
  const { text: whole, source } = await findText(input, context, agent !== undefined);
  const offset = findHeld(input.from, state) ? (input.offset ?? 0) : 0;
  const text = whole.slice(offset);
  if (text.length > maxPartChars && input.offset === undefined)
    throw readError(
      `The text has ${whole.length} characters, and ${maxPartChars} are read at once: name an offset, 0 for the first part.`,
    );
  const model = await openModel(context);
  const part = text.slice(0, maxPartChars);
  const { values, spent } = await askQuarantined(
    model,
    { text: part, source, question: input.question, schema },
    signal,
    (own) => assertRunBudget(state, own, model.price !== undefined),
  ).catch((error: unknown) => {
    // The message of a provider can repeat the request.
    throw readError(
      `The model ${model.name} gave no answer${error instanceof FairleadError ? ` (${error.code})` : ''}.`,
    );
  });
  const held = {
    withheld: part,
    data: { quarantine: createHandle(state, context.call.id), tool: readQuarantinedName, chars: part.length },
    spent,
  };
  return values
    ? toolOutput({ text: JSON.stringify(values), ...held })
    : toolOutput({
        text: 'The model that read the text returned nothing that fits the schema. The text stays in quarantine.',
        failed: true,
        ...held,
      });
}

/** The text of a handle, or the result of the tool that reads a path or a URL. */
async function findText(
  input: ReadQuarantinedInput,
  context: ToolContext,
  isApproved: boolean,
): Promise<{ readonly text: string; readonly source: string }> {
  const { agent, state } = context;
  const held = findHeld(input.from, state);
  if (held) return { text: held.text, source: `a result of ${held.tool}` };
  if (/^q\d+-\d/.test(input.from)) throw readError(`There is no quarantined text ${input.from} in this session.`);
  const call = toSourceCall(input, `${context.call.id}.1`, state);
  const tool = call && agent.tools.get(call.tool);
  if (!call || !tool) throw readError('There is no tool here that can read this.');
  const invalid = tool.validate?.(call.input);
  if (invalid !== undefined) throw readError(`This cannot be read: ${invalid}`);
  const ruling = await evaluateGates(agent, call, state);
  if (ruling.type === 'deny') throw readError(ruling.reason);
  // The same question was asked before this call ran.
  if (ruling.type === 'ask' && !isApproved) throw readError(`${call.tool} needs an approval: call it directly.`);
  const value = await executeSource(tool, ruling.type === 'allow' ? ruling.input : call.input, {
    ...context,
    call,
    key: `${context.key}.1`,
  });
  const text = isToolOutput(value) ? (value.withheld ?? value.text) : typeof value === 'string' ? value : undefined;
  if (text === undefined || (isToolOutput(value) && value.failed))
    throw readError(`${call.tool} could not read it. Its message stays in quarantine.`);
  return { text, source: `a result of ${call.tool}` };
}

/** The result of the tool; undefined if it throws, because its message can hold the text. */
async function executeSource(tool: Tool, input: Json, context: ToolContext): Promise<unknown> {
  try {
    return await tool.execute(input, context);
  } catch {
    return undefined;
  }
}

const readError = (text: string): FairleadError => new FairleadError('guards/quarantine', text, { blame: 'model' });
