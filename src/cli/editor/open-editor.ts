// Opens a text in the person's own editor and waits for it: beside the program inside tmux, in its place elsewhere.
import { spawn } from 'node:child_process';
import { accessSync, constants, existsSync } from 'node:fs';
import path from 'node:path';
import { errorMessage } from '../../core/index.ts';
import type { TerminalUI } from '../tui/ui.ts';
import { draftKeptMessage, createDraftFile, type DraftFile } from './draft-file.ts';
import { runEditorInTmuxSplit, interruptedMessage, type EditorJob, type EditorExit } from './tmux-split.ts';

/** Where and how to edit. */
export type EditorOptions = {
  /** How the file's name ends, for the editor to know what it holds, for example `.md`. */
  readonly suffix: string;
  readonly env?: NodeJS.ProcessEnv;
  readonly cwd?: string;
  /** Hands the terminal over while an editor has it. */
  readonly ui?: Pick<TerminalUI, 'suspendFor'>;
  /** Ends the editor; what was saved until then is kept. */
  readonly signal?: AbortSignal;
};

/** What came of it. Where something failed, what was written is in the file `kept`, if there is one; `why` names it. */
export type EditorResult =
  | { readonly type: 'saved'; readonly text: string }
  | { readonly type: 'unchanged' }
  | { readonly type: 'failed'; readonly message: string; readonly draftPath?: string };

/** Lets a person edit a text. A line break that only the editor added at the end is taken off again. */
export async function openEditor(text: string, options: EditorOptions): Promise<EditorResult> {
  const { suffix, env = process.env, cwd = process.cwd(), ui, signal } = options;
  const editor = findEditor(env);
  if (editor === undefined)
    return {
      type: 'failed',
      message: 'No editor was found: set VISUAL or EDITOR to the one to use, or install nvim, vim, vi or nano.',
    };
  let draft: DraftFile;
  try {
    draft = createDraftFile(text, suffix);
  } catch (error) {
    return { type: 'failed', message: `The text could not be put into a file to edit: ${errorMessage(error)}` };
  }
  const job = { editor, draft, env, cwd, signal };
  const split = env['TMUX'] ? await runEditorInTmuxSplit(job) : undefined;
  const ended =
    split ?? (ui ? await ui.suspendFor(() => runEditorInForeground(job)) : await runEditorInForeground(job));
  return toEditorResult(text, editor, draft, ended);
}

/** The command line of the editor to use; nothing if there is none. */
export function findEditor(env: NodeJS.ProcessEnv): string | undefined {
  const chosen = [env['VISUAL'], env['EDITOR']].find((each) => each?.trim());
  return chosen ?? ['nvim', 'vim', 'vi', 'nano'].find((name) => isOnPath(name, env['PATH'] ?? ''));
}

function isOnPath(name: string, folders: string): boolean {
  return folders.split(path.delimiter).some((folder) => {
    try {
      accessSync(path.join(folder || '.', name), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}

/** The variable may hold arguments and quotes, so a shell reads it, as it does for other programs; the file's name is never part of what it reads. */
function runEditorInForeground({ editor, draft, env, cwd, signal }: EditorJob): Promise<EditorExit> {
  const { promise, resolve } = Promise.withResolvers<EditorExit>();
  const how = { stdio: 'inherit', env, cwd, ...(signal ? { signal } : {}) } as const;
  const child =
    process.platform === 'win32'
      ? spawn(`${editor} "${draft.file}"`, { ...how, shell: true })
      : spawn('/bin/sh', ['-c', `${editor} "$@"`, 'sh', draft.file], how);
  child.once('error', (error) => resolve({ message: signal?.aborted ? interruptedMessage : error.message }));
  child.once('exit', (code, signal) => resolve(code === null ? { message: `it was ended by ${signal}` } : { code }));
  return promise;
}

function toEditorResult(text: string, editor: string, draft: DraftFile, ended: EditorExit): EditorResult {
  const failed = (why: string): EditorResult => {
    const kept = hasUnsavedText(draft, text);
    if (!kept) draft.remove();
    return kept
      ? { type: 'failed', message: `${why} ${draftKeptMessage(draft.file)}`, draftPath: draft.file }
      : { type: 'failed', message: why };
  };
  if ('message' in ended) return failed(`The editor (${editor}) failed: ${ended.message}.`);
  if (ended.code === 126 || ended.code === 127)
    return failed(`The editor (${editor}) could not be started: set VISUAL or EDITOR to one that is installed.`);
  if (ended.code !== 0)
    return failed(`The editor (${editor}) ended with code ${ended.code}, so nothing was taken over.`);
  try {
    const now = draft.read();
    draft.remove();
    const ours = !text.endsWith('\n') && now.endsWith('\n') ? now.slice(0, -1) : now;
    return ours === text ? { type: 'unchanged' } : { type: 'saved', text: ours };
  } catch (error) {
    return failed(`What was saved cannot be read: ${errorMessage(error)}.`);
  }
}

/** Whether the file holds anything that the caller has not. */
function hasUnsavedText(draft: DraftFile, text: string): boolean {
  try {
    return draft.read() !== text;
  } catch {
    return existsSync(draft.file);
  }
}
