// The preview of a call that waits for approval: what it would change or run, as data that a terminal, a page or an editor can show.
import { isObject, type Json } from './json.ts';

/** The change that a call would make to one file. */
export type FilePreview = {
  /** The path as the call names it. */
  readonly path: string;
  readonly change: 'create' | 'edit' | 'delete';
  /** A unified diff with context; nothing is left out. */
  readonly diff: string;
  readonly added: number;
  readonly removed: number;
};

/** The command that a call would run. */
export type CommandPreview = {
  /** The exact command. */
  readonly line: string;
  /** The folder in which it runs. */
  readonly folder: string;
  /** What is known of its effects, one clause each: files it writes, hosts it names, paths outside the folder. */
  readonly effects: readonly string[];
  /** The sandbox in which it runs, or that there is none. */
  readonly sandbox: string;
};

/** Why a call needs care, such as a value that a third party wrote. */
export type ApprovalWarning = {
  /** One sentence. */
  readonly reason: string;
  /** What the sentence rests on: a name such as `to` or `found in`, and its text. An empty name continues the row before. */
  readonly rows: readonly { readonly name: string; readonly text: string }[];
};

/** What a call that waits for approval would do. */
export type ApprovalPreview = {
  /** The question in a few words: `Edit src/a.ts?`. */
  readonly title: string;
  readonly files?: readonly FilePreview[];
  readonly command?: CommandPreview;
  /** The arguments of any other tool; `server` names its MCP server. */
  readonly call?: { readonly tool: string; readonly server?: string; readonly input: Json };
  readonly warning?: ApprovalWarning;
  /** Other reasons, one sentence each. */
  readonly notes: readonly string[];
  /** What can be allowed besides this call, such as `run_command: commands that begin with npm test`. */
  readonly scopes?: readonly string[];
};

/** What the user can allow with the answer to a question: this call, or also later calls. */
export type ApprovalScope = {
  /** Its name in the answer; `once` allows this call only. */
  readonly scope: string;
  /** What it allows, in plain words. */
  readonly label: string;
  /** How long it counts: in this session, or in this project until the user revokes it. `once` has no duration. */
  readonly duration?: 'session' | 'project';
};

/** The scope of an answer that allows this call only. */
export const onceScope: ApprovalScope = { scope: 'once', label: 'Yes, once' };

const isText = (value: unknown): value is string => typeof value === 'string';
const isTextList = (value: unknown): boolean => Array.isArray(value) && value.every(isText);

const isWarning = (value: unknown): boolean =>
  isObject(value) &&
  isText(value['reason']) &&
  Array.isArray(value['rows']) &&
  value['rows'].every((row) => isObject(row) && isText(row['name']) && isText(row['text']));

/** Whether a value is a preview that a view can show; a gate is user code, and a log may come from another program. */
export function isApprovalPreview(value: unknown): value is ApprovalPreview {
  if (!isObject(value) || !isText(value['title']) || !isTextList(value['notes'])) return false;
  const { files = [], command, call, scopes = [], warning } = value;
  return (
    isTextList(scopes) &&
    (warning === undefined || isWarning(warning)) &&
    Array.isArray(files) &&
    files.every(
      (file) =>
        isObject(file) &&
        isText(file['path']) &&
        isText(file['diff']) &&
        ['create', 'edit', 'delete'].includes(String(file['change'])) &&
        typeof file['added'] === 'number' &&
        typeof file['removed'] === 'number',
    ) &&
    (command === undefined ||
      (isObject(command) &&
        isText(command['line']) &&
        isText(command['folder']) &&
        isText(command['sandbox']) &&
        isTextList(command['effects']))) &&
    (call === undefined ||
      (isObject(call) && isText(call['tool']) && ['string', 'undefined'].includes(typeof call['server'])))
  );
}
