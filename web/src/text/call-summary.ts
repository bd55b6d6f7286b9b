// Summarises a tool call in one line: the icon, the name of the tool, what it acts on, and its outcome.
import type { Json, JsonObject } from '../../../src/core/index.ts';
import type { IconName } from './icon-shapes.ts';
import { formatCount } from './format.ts';

/** A call in one line. */
export type CallSummary = { readonly icon: IconName; readonly name: string; readonly target: string };

/** The icon and the input field that says what the call acts on, by tool. */
const knownTools: Readonly<Record<string, readonly [icon: IconName, field: string]>> = {
  read_file: ['file', 'path'],
  write_file: ['edit', 'path'],
  edit_file: ['edit', 'path'],
  delete_file: ['trash', 'path'],
  apply_patch: ['edit', 'patch'],
  list_files: ['folder', 'path'],
  glob: ['search', 'pattern'],
  grep: ['search', 'pattern'],
  run_command: ['terminal', 'command'],
  execute_sandboxed_command: ['terminal', 'command'],
  command_output: ['terminal', 'id'],
  stop_command: ['stop', 'id'],
  run_code: ['terminal', 'code'],
  git: ['fork', 'command'],
  git_change: ['fork', 'command'],
  git_remote: ['fork', 'command'],
  web_fetch: ['globe', 'url'],
  web_search: ['search', 'query'],
  http_request: ['globe', 'url'],
  ask_user: ['message', 'question'],
  load_tools: ['tool', 'names'],
};

/** Whether a value is a JSON object. */
export const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Returns the call that a call of `use_tool` stands for; other calls as they are. */
export function unwrapCall(tool: string, input: Json): { readonly tool: string; readonly input: Json } {
  if (tool !== 'use_tool' || !isObject(input) || typeof input['tool'] !== 'string') return { tool, input };
  return { tool: input['tool'], input: input['input'] ?? {} };
}

/** Returns the name of a tool for people: tools of MCP servers as `server: tool`. */
export function formatToolName(tool: string): string {
  const [, server, name] = /^mcp__(.+?)__(.+)$/.exec(tool) ?? [];
  return server === undefined || name === undefined ? tool : `${server}: ${name}`;
}

/** Summarises a call. */
export function summarizeCall(wrappedTool: string, wrappedInput: Json): CallSummary {
  const { tool, input } = unwrapCall(wrappedTool, wrappedInput);
  const [icon, field] = knownTools[tool] ?? ['tool', ''];
  const value = isObject(input) ? (input[field] ?? firstText(input)) : input;
  const text = typeof value === 'string' ? value : Array.isArray(value) ? value.join(', ') : formatRest(value);
  return { icon, name: formatToolName(tool), target: text.replaceAll(/\s+/g, ' ').trim().slice(0, 200) };
}

const firstText = (input: JsonObject): string | undefined =>
  Object.values(input).find((value): value is string => typeof value === 'string');

const formatRest = (value: Json | undefined): string =>
  value === undefined || value === null || (isObject(value) && Object.keys(value).length === 0)
    ? ''
    : JSON.stringify(value);

/** Returns the result of a call in a few words: the first line of an error, or the size of the text. */
export function summarizeResult(outcome: string, text: string): string {
  const trimmed = text.trim();
  if (trimmed === '') return '';
  const lines = trimmed.split('\n');
  const first = (lines[0] ?? '').slice(0, 120);
  if (outcome !== 'ok' || lines.length === 1) return first;
  return `${formatCount(lines.length)} lines`;
}

const outsidePattern = /^<outside-text from=("(?:[^"\\]|\\.)*")>\n([\s\S]*?)\n<\/outside-text>\s*$/;

/** Removes the marks around text from outside, which are for the model; `from` names its source. */
export function unwrapOutsideText(text: string): { readonly text: string; readonly from?: string } {
  const [, quoted, inner] = outsidePattern.exec(text) ?? [];
  if (quoted === undefined || inner === undefined) return { text };
  return { text: inner, from: String(JSON.parse(quoted)) };
}
