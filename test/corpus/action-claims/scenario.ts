// The form of the labelled sessions of the corpus of action claims.
import type { JsonObject } from '../../../src/core/index.ts';

/** `t`: a true claim. `f`: a claim that the log contradicts. `n`: no claim about an action of this session. */
export type Label = 't' | 'f' | 'n';

/** A session: files, the calls that the model makes, and answers whose sentences are labelled. */
export type Scenario = {
  readonly name: string;
  readonly prompt?: string;
  readonly files?: Readonly<Record<string, string>>;
  readonly calls: readonly (readonly [tool: string, input: JsonObject])[];
  readonly answers: readonly (readonly (readonly [Label, string])[])[];
};

/** The call of a command. */
export const run = (command: string, more: JsonObject = {}): readonly [string, JsonObject] => [
  'run_command',
  { command, ...more },
];

/** The call that writes a file. */
export const write = (path: string, content: string): readonly [string, JsonObject] => [
  'write_file',
  { path, content },
];

/** The calls that read a file and replace a text in it. */
export const edit = (path: string, before: string, after: string): readonly (readonly [string, JsonObject])[] => [
  ['read_file', { path }],
  ['edit_file', { path, old_string: before, new_string: after }],
];
