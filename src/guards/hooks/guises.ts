// Our calls as hooks know them: by the tool names and fields that hooks of other harnesses are written for, and back.
import path from 'node:path';
import { isObject, type Json, type JsonObject } from '../../core/index.ts';

/** A call as a hook sees it. */
export type Guise = {
  readonly name: string;
  readonly input: JsonObject;
  /** Our input for one that a hook changed; absent where there is no way back. */
  readonly back?: (input: JsonObject) => Json;
};

type Given = { readonly tool: string; readonly input: Json };

const field = (input: JsonObject, name: string): string => {
  const value = input[name];
  return typeof value === 'string' ? value : '';
};

/** File tools call the path `path`; hooks call it `file_path`, and expect it whole. */
function fileGuise(name: string, input: JsonObject, cwd: string): Guise {
  const { path: file, ...rest } = input;
  const whole = typeof file === 'string' ? path.resolve(cwd, file) : null;
  return {
    name,
    input: { file_path: whole, ...rest },
    back: ({ file_path: changed, ...more }) => ({
      ...more,
      path: changed === whole ? (file ?? null) : (changed ?? null),
    }),
  };
}

const same = (name: string, input: JsonObject): Guise => ({ name, input, back: (changed) => changed });

const bash = (command: string): Guise => ({ name: 'Bash', input: { command } });

const word = (text: string): string =>
  /^[\w./:@-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;

function gitCommand(tool: string, input: JsonObject): string {
  const operation = field(input, 'operation') || tool;
  const paths = Array.isArray(input['paths']) ? input['paths'].filter((each) => typeof each === 'string') : [];
  const message = field(input, 'message');
  const words = ['remote', 'url', 'name', 'from', 'branch', 'revision', 'path'].map((name) => field(input, name));
  return [
    'git',
    operation,
    ...(message ? ['-m', word(message)] : []),
    ...words.filter(Boolean).map(word),
    ...(paths.length ? ['--', ...paths.map(word)] : []),
  ].join(' ');
}

/** One tool of ours may be what others do with several, or with a command: whoever guards one of those guards this too. */
const table: Readonly<Record<string, (input: JsonObject, cwd: string) => readonly Guise[]>> = {
  run_command: (input) => [same('Bash', input)],
  execute_sandboxed_command: (input) => [same('Bash', input)],
  run_code: (input) => [bash(field(input, 'code'))],
  read_file: (input, cwd) => [fileGuise('Read', input, cwd)],
  write_file: (input, cwd) => [fileGuise('Write', input, cwd)],
  edit_file: (input, cwd) => [fileGuise('Edit', input, cwd)],
  delete_file: (input, cwd) => [
    bash(`rm -- ${word(field(input, 'path'))}`),
    { ...fileGuise('Edit', { path: field(input, 'path'), old_string: '', new_string: '' }, cwd) },
  ],
  apply_patch: (input, cwd) =>
    (Array.isArray(input['paths']) ? input['paths'] : []).map((file) => {
      const { name, input: seen } = fileGuise('MultiEdit', { path: file, edits: [], patch: input['patch'] ?? '' }, cwd);
      return { name, input: seen };
    }),
  list_files: (input) => [same('LS', input)],
  glob: (input) => [same('Glob', input)],
  grep: (input) => [same('Grep', input)],
  git: (input) => [bash(gitCommand('status', input))],
  git_change: (input) => [bash(gitCommand('commit', input))],
  git_remote: (input) => [bash(gitCommand('pull', input))],
  web_fetch: (input) => [same('WebFetch', input)],
  http_request: (input) => [same('WebFetch', input)],
  web_search: (input) => [same('WebSearch', input)],
  todo: (input) => [same('TodoWrite', input)],
  spawn_agent: (input) => [{ name: 'Task', input: { ...input, prompt: input['task'] ?? input['prompt'] ?? '' } }],
};

/** More names under which a guard may be waiting for a guise. */
const also: Readonly<Record<string, readonly string[]>> = { MultiEdit: ['Edit', 'Write'], Task: ['Agent'] };

/** How a call looks to hooks; at least one guise, under its own name where others have nothing like it. */
export function guisesOf({ tool, input }: Given, cwd: string): readonly Guise[] {
  const given = isObject(input) ? input : {};
  const made = Object.hasOwn(table, tool) ? (table[tool]?.(given, cwd) ?? []) : [];
  return made.length ? made : [same(tool, given)];
}

/** The names by which a hook may mean this guise of this tool. */
export const namesOf = (tool: string, { name }: Guise): readonly string[] => [name, ...(also[name] ?? []), tool];
