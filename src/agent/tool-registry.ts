// The tools of an agent by name. Deferred tools are behind two constant tools, so that the visible list and the cached prefix never change.
import {
  copyTool,
  USE_TOOL,
  isObject,
  toolOutput,
  type Json,
  type JsonObject,
  type ToolOutput,
  type Tool,
  type ToolSpec,
} from '../core/index.ts';
import { badToolError, toolDefinitionError, LOAD_TOOLS } from './define-tool.ts';
import { createValidator, createLazyValidator, describeKind } from './schema.ts';

const maxDescriptionChars = 8000;
const maxSentenceChars = 160;

/** The tools by name, in order. If any is deferred, a tool to load it and a tool to use it are added; a deferred tool cannot run before it is loaded. */
export function createToolRegistry(tools: readonly Tool[]): ReadonlyMap<string, Tool> {
  const byName = new Map<string, Tool>();
  for (const tool of tools) {
    if (!isObject(tool)) throw badToolError(undefined, `it is ${describeKind(tool)}`);
    const definitionError = byName.has(tool.name) ? 'there are two tools of this name' : toolDefinitionError(tool);
    if (definitionError) throw badToolError(tool.name, definitionError);
    byName.set(tool.name, tool.validate ? tool : withValidator(tool));
  }
  const deferred = tools.filter((tool) => tool.deferred);
  if (deferred.length === 0) return byName;
  return byName.set(LOAD_TOOLS, createLoadTool(deferred)).set(USE_TOOL, useTool);
}

/** Every tool has its input validated, also one that was defined without a validator. */
const withValidator = (tool: Tool): Tool =>
  // A deferred tool is seldom called. If its schema does not compile at the first call, no call runs.
  copyTool(tool, { validate: (tool.deferred ? createLazyValidator : createValidator)(tool.input) });

/** What a model sees of the tools: name, description and input schema, without deferred and hidden tools. */
export const visibleToolSpecs = (tools: ReadonlyMap<string, Tool>): readonly ToolSpec[] =>
  [...tools.values()]
    .filter((tool) => !tool.deferred && tool.visible !== false)
    .map(({ name, description, input }) => ({ name, description, input }));

function createLoadTool(deferred: readonly Tool[]): Tool {
  const groups = Map.groupBy(
    deferred.toSorted((a, b) => Number(toolGroup(a) !== '') - Number(toolGroup(b) !== '')),
    toolGroup,
  );
  const input: JsonObject = {
    type: 'object',
    properties: {
      names: {
        type: 'array',
        items: { type: 'string' },
        description: 'Names of tools, or of whole groups.',
      },
    },
    required: ['names'],
    additionalProperties: false,
  };
  return {
    name: LOAD_TOOLS,
    description: formatToolList(groups),
    input,
    effect: 'read',
    validate: createValidator(input),
    execute: (value) => loadTools(groups, (value as { readonly names: readonly string[] }).names),
  };
}

/** Tools of one source have the same prefix before the double underscore: `custom__`, or `mcp__server__` for an MCP server. */
const toolGroup = ({ name }: Tool): string => /^(mcp__.+?|.+?)__/.exec(name)?.[1] ?? '';

type ToolGroups = ReadonlyMap<string, readonly Tool[]>;

function formatToolList(groups: ToolGroups): string {
  const intro = `Loads tools that are not in your list; then call them with ${USE_TOOL}. Tools that can be loaded:`;
  const list = (line: (tool: Tool) => string, separator: string): string =>
    [...groups].map(([group, tools]) => `${group ? `\n[${group}]` : ''}\n${tools.map(line).join(separator)}`).join('');
  const full = intro + list((tool) => `${tool.name}: ${firstSentence(tool.description)}`, '\n');
  if (full.length <= maxDescriptionChars) return full;
  const names = intro + list((tool) => tool.name, ', ');
  return names.length <= maxDescriptionChars
    ? names
    : `${names.slice(0, maxDescriptionChars)}… Call this with no names to see them all.`;
}

function firstSentence(text: string): string {
  const line = text.trim().replaceAll(/\s+/g, ' ');
  const sentence = /^.*?[.!?](?= |$)/.exec(line)?.[0] ?? line;
  return sentence.length > maxSentenceChars ? `${sentence.slice(0, maxSentenceChars)}…` : sentence;
}

function loadTools(groups: ToolGroups, names: readonly string[]): ToolOutput {
  const deferred = [...groups.values()].flat();
  const findTools = (name: string): readonly Tool[] => {
    const tools = deferred.filter((tool) => tool.name === name);
    return tools.length || name === '' ? tools : (groups.get(name) ?? []);
  };
  const unknown = names.filter((name) => findTools(name).length === 0);
  if (unknown.length)
    return toolOutput({
      failed: true,
      text: `Nothing was loaded: there is no tool to load named ${unknown.join(', ')}. There are: ${deferred.map((tool) => tool.name).join(', ')}.`,
    });
  if (names.length === 0)
    return toolOutput({ text: deferred.map((tool) => `${tool.name}: ${firstSentence(tool.description)}`).join('\n') });
  const loaded = [...new Set(names.flatMap(findTools))];
  const [first] = loaded;
  return toolOutput({
    text: [
      ...loaded.map((tool) => `${tool.name}: ${tool.description}\nInput schema: ${JSON.stringify(tool.input)}`),
      `Loaded. Call ${USE_TOOL} with {"tool": "${first?.name}", "input": {…}}, the input as the schema says.`,
    ].join('\n\n'),
    loadsTools: loaded.map((tool) => tool.name),
  });
}

/** The loop calls the named tool instead: gates, checks and the log see that one. Its effect is `external`, so that it runs alone. */
const useTool: Tool = {
  name: USE_TOOL,
  description: `Calls a tool that ${LOAD_TOOLS} has loaded.`,
  input: {
    type: 'object',
    properties: {
      tool: { type: 'string' },
      input: { type: 'object', description: 'As its schema says.' },
    },
    required: ['tool', 'input'],
    additionalProperties: false,
  },
  effect: 'external',
  execute(_input: Json): never {
    throw badToolError(USE_TOOL, 'it calls other tools and never runs itself');
  },
};
