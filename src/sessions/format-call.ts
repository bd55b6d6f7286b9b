// Formats the input and the output of a tool call as plain text for a transcript.
import { escapeInvisible, isObject, stripControlSequences, unwrapDeferredCall, type Json } from '../core/index.ts';

/** A tool call as a user reads it. */
export type CallTitle = { readonly tool: string; readonly input: string };

/** The name and the input of a call in the terms of the user: a tool of an MCP server as `server: tool`, without the wrapper around a deferred tool. */
export function formatCallTitle(tool: string, input: Json): CallTitle {
  const call = unwrapDeferredCall({ tool, input });
  if (typeof call === 'string') return { tool: escapeInvisible(tool), input: formatToolInput(input) };
  if (call.tool === 'load_tools' && isObject(call.input) && Array.isArray(call.input['names']))
    return {
      tool: 'load tools',
      input: toOneLine(call.input['names'].map((name) => formatToolName(String(name))).join(', ')),
    };
  return { tool: formatToolName(call.tool), input: formatToolInput(withoutContent(call)) };
}

/** The tools that write what their other values say: the diff or the preview of the call shows it. */
const writingTools: ReadonlySet<string> = new Set(['write_file', 'edit_file']);

const withoutContent = ({ tool, input }: { readonly tool: string; readonly input: Json }): Json =>
  writingTools.has(tool) && isObject(input) && typeof input['path'] === 'string' ? { path: input['path'] } : input;

/** The name of a tool as a user reads it. */
export function formatToolName(name: string): string {
  const [, server, tool] = /^mcp__(.+?)__(.+)$/.exec(name) ?? [];
  return escapeInvisible(server === undefined || tool === undefined ? name : `${server}: ${tool}`);
}

/** The input of a tool call on one line: its first value if that is a text, then the other values by name; otherwise JSON. */
export function formatToolInput(input: Json): string {
  if (input === null || typeof input !== 'object' || Array.isArray(input)) return toOneLine(JSON.stringify(input));
  const values = Object.entries(input);
  const [first] = values;
  if (first === undefined) return '';
  if (typeof first[1] !== 'string') return toOneLine(JSON.stringify(input));
  const rest = values.slice(1).map(([key, value]) => `${key}=${toOneLine(JSON.stringify(value), 60)}`);
  return [toOneLine(first[1]), ...rest].join(' ');
}

function toOneLine(text: string, max = 400): string {
  const flat = escapeInvisible(text.slice(0, max + 1).replaceAll(/\s*\n\s*/g, ' ⏎ ')).replaceAll('\t', ' ');
  return flat.length > max ? `${flat.slice(0, max)}…` : flat;
}

/** The output of a tool as a terminal would show it, without control sequences. */
export function toPlainOutput(text: string): string {
  // A carriage return moves to the start of the line: the text before it was a progress bar.
  const settled = text.includes('\r')
    ? text.replaceAll('\r\n', '\n').split('\n').map(afterLastReturn).join('\n')
    : text;
  const shown = settled.includes('outside-text') ? settled.replaceAll(outsideTextTags, '') : settled;
  return escapeInvisible(stripControlSequences(shown)).replaceAll('\t', '    ');
}

/** The tags that mark untrusted text for the model; text that imitates them is escaped, so only ours match. */
const outsideTextTags = /^<outside-text from=".*">\n|\n?<\/outside-text>$/gm;

const afterLastReturn = (line: string): string => line.slice(line.lastIndexOf('\r') + 1);
