// Converts tool calls to the tool names and input fields of Claude Code hooks, and back.
import path from 'node:path';
import { isObject, type Json, type JsonObject } from '../../core/index.ts';

/** A call as a hook sees it. */
export type ClaudeToolCall = {
  readonly name: string;
  readonly input: JsonObject;
  /** Converts an input that a hook changed back to our input; absent if that is not possible. */
  readonly toOwnInput?: (input: JsonObject) => Json;
};

type OwnToolCall = { readonly tool: string; readonly input: Json };

const stringField = (input: JsonObject, name: string): string => {
  const value = input[name];
  return typeof value === 'string' ? value : '';
};

/** Our file tools use `path`. Hooks expect an absolute `file_path`. */
function fileToolCall(name: string, input: JsonObject, cwd: string): ClaudeToolCall {
  const { path: file, ...rest } = input;
  const absolute = typeof file === 'string' ? path.resolve(cwd, file) : null;
  return {
    name,
    input: { file_path: absolute, ...rest },
    toOwnInput: ({ file_path: changed, ...otherFields }) => ({
      ...otherFields,
      path: changed === absolute ? (file ?? null) : (changed ?? null),
    }),
  };
}

const sameInputCall = (name: string, input: JsonObject): ClaudeToolCall => ({
  name,
  input,
  toOwnInput: (changed) => changed,
});

const bashCall = (command: string): ClaudeToolCall => ({ name: 'Bash', input: { command } });

const quoteShellWord = (text: string): string =>
  /^[\w./:@-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;

function gitCommand(tool: string, input: JsonObject): string {
  const operation = stringField(input, 'operation') || tool;
  const paths = Array.isArray(input['paths']) ? input['paths'].filter((each) => typeof each === 'string') : [];
  const message = stringField(input, 'message');
  const words = ['remote', 'url', 'name', 'from', 'branch', 'revision', 'path'].map((name) => stringField(input, name));
  return [
    'git',
    operation,
    ...(message ? ['-m', quoteShellWord(message)] : []),
    ...words.filter(Boolean).map(quoteShellWord),
    ...(paths.length ? ['--', ...paths.map(quoteShellWord)] : []),
  ].join(' ');
}

/** One of our tools may correspond to several Claude Code tools or to a command. A hook that guards any of them guards our tool too. */
const claudeToolTable: Readonly<Record<string, (input: JsonObject, cwd: string) => readonly ClaudeToolCall[]>> = {
  run_command: (input) => [sameInputCall('Bash', input)],
  execute_sandboxed_command: (input) => [sameInputCall('Bash', input)],
  run_code: (input) => [bashCall(stringField(input, 'code'))],
  read_file: (input, cwd) => [fileToolCall('Read', input, cwd)],
  write_file: (input, cwd) => [fileToolCall('Write', input, cwd)],
  edit_file: (input, cwd) => [fileToolCall('Edit', input, cwd)],
  delete_file: (input, cwd) => [
    bashCall(`rm -- ${quoteShellWord(stringField(input, 'path'))}`),
    { ...fileToolCall('Edit', { path: stringField(input, 'path'), old_string: '', new_string: '' }, cwd) },
  ],
  apply_patch: (input, cwd) =>
    (Array.isArray(input['paths']) ? input['paths'] : []).map((file) => {
      const { name, input: seen } = fileToolCall(
        'MultiEdit',
        { path: file, edits: [], patch: input['patch'] ?? '' },
        cwd,
      );
      return { name, input: seen };
    }),
  list_files: (input) => [sameInputCall('LS', input)],
  glob: (input) => [sameInputCall('Glob', input)],
  grep: (input) => [sameInputCall('Grep', input)],
  git: (input) => [bashCall(gitCommand('status', input))],
  git_change: (input) => [bashCall(gitCommand('commit', input))],
  git_remote: (input) => [bashCall(gitCommand('pull', input))],
  web_fetch: (input) => [sameInputCall('WebFetch', input)],
  http_request: (input) => [sameInputCall('WebFetch', input)],
  web_search: (input) => [sameInputCall('WebSearch', input)],
  todo: (input) => [sameInputCall('TodoWrite', input)],
  spawn_agent: (input) => [{ name: 'Task', input: { ...input, prompt: input['task'] ?? input['prompt'] ?? '' } }],
};

/** Additional names that a hook matcher may use for a converted call. */
const equivalentToolNames: Readonly<Record<string, readonly string[]>> = {
  MultiEdit: ['Edit', 'Write'],
  Task: ['Agent'],
};

/** Converts a call for hooks. Returns at least one conversion, under the original name if Claude Code has no similar tool. */
export function toClaudeToolCalls({ tool, input }: OwnToolCall, cwd: string): readonly ClaudeToolCall[] {
  const fields = isObject(input) ? input : {};
  const converted = Object.hasOwn(claudeToolTable, tool) ? (claudeToolTable[tool]?.(fields, cwd) ?? []) : [];
  return converted.length ? converted : [sameInputCall(tool, fields)];
}

/** Returns all names by which a matcher can select this converted call. */
export const claudeToolNames = (tool: string, { name }: ClaudeToolCall): readonly string[] => [
  name,
  ...(equivalentToolNames[name] ?? []),
  tool,
];
