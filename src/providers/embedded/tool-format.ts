// The Hermes format of tools and tool calls, in which Qwen, SmolLM and other models were trained: definitions in the system message, calls as JSON between tags.
import { isObject, type Json, type ToolSpec } from '../../core/index.ts';
import { schemaToGrammar, stringifySpaced } from './grammar.ts';

/** What a call starts with. */
export const callStart = '<tool_call>';

/** What is written after the start of a call, up to the name of the tool. */
export const callNamePrefix = '\n{"name":';

/** What ends a call after its input. */
export const callEnd = '}\n</tool_call>';

/** Returns the section of the system message that defines the tools. */
export const formatToolSection = (tools: readonly ToolSpec[]): string =>
  `# Tools

These functions can be called to answer the user. Each line between the tags is the JSON definition of one function:
<tools>
${tools.map(({ name, description, input }) => stringifySpaced({ type: 'function', function: { name, description, parameters: input } })).join('\n')}
</tools>

To call a function, write its name and its arguments as one JSON object between these tags:
<tool_call>
{"name": <name of the function>, "arguments": <object with the arguments>}
</tool_call>`;

/** Returns a call as the model writes it. */
export const formatCall = (tool: string, input: Json): string =>
  `${callStart}${callNamePrefix}${formatName(tool)} ${stringifySpaced(input)}${callEnd}`;

/** Returns the result of a call as the model reads it. Tags of the format in its text are split, so that no file can imitate the end of a result or a call. */
export const formatCallResult = (text: string): string =>
  `<tool_response>\n${text.replaceAll(/<(?=\/?tool_(?:call|response)>)/g, '< ')}\n</tool_response>`;

/** Returns the text from the name of a tool to its input. */
export const formatName = (tool: string): string => ` ${JSON.stringify(tool)}, "arguments":`;

/** Returns the grammar of the name of one of the tools. */
export const toolNameGrammar = (tools: readonly ToolSpec[]): string =>
  `root ::= ${tools.map(({ name }) => JSON.stringify(formatName(name))).join(' | ')}\n`;

/** Returns the tool of a complete name. */
export const findNamedTool = (text: string, tools: readonly ToolSpec[]): ToolSpec | undefined =>
  tools.find(({ name }) => formatName(name).trim() === text.trim());

/** Returns the grammar of the input of a call after its name. */
export const callInputGrammar = ({ input }: ToolSpec): string =>
  schemaToGrammar(isObject(input) ? input : {}).replace(/^root ::= (.*)$/m, 'root ::= " " ($1)');
