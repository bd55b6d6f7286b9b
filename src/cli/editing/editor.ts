// Opens a text in the person's own editor and waits for it: beside the program inside tmux, in its place elsewhere.
import { spawn } from 'node:child_process';
import { accessSync, constants, existsSync } from 'node:fs';
import path from 'node:path';
import { errorMessage } from '../../core/index.ts';
import type { Face } from '../face/face.ts';
import { keptIn, newDraft, type Draft } from './draft.ts';
import { editInSplit, interrupted, type EditorJob, type Ended } from './tmux.ts';

/** Where and how to edit. */
export type EditorOptions = {
  /** How the file's name ends, for the editor to know what it holds, for example `.md`. */
  readonly suffix: string;
  readonly env?: NodeJS.ProcessEnv;
  readonly cwd?: string;
  /** Hands the terminal over while an editor has it. */
  readonly face?: Pick<Face, 'aside'>;
  /** Ends the editor; what was saved until then is kept. */
  readonly signal?: AbortSignal;
};

/** What came of it. Where something failed, what was written is in the file `kept`, if there is one; `why` names it. */
export type Edited =
  | { readonly type: 'saved'; readonly text: string }
  | { readonly type: 'unchanged' }
  | { readonly type: 'failed'; readonly why: string; readonly kept?: string };

/** Lets a person edit a text. A line break that only the editor added at the end is taken off again. */
export async function openEditor(text: string, options: EditorOptions): Promise<Edited> {
  const { suffix, env = process.env, cwd = process.cwd(), face, signal } = options;
  const editor = editorOf(env);
  if (editor === undefined)
    return {
      type: 'failed',
      why: 'No editor was found: set VISUAL or EDITOR to the one to use, or install nvim, vim, vi or nano.',
    };
  let draft: Draft;
  try {
    draft = newDraft(text, suffix);
  } catch (error) {
    return { type: 'failed', why: `The text could not be put into a file to edit: ${errorMessage(error)}` };
  }
  const job = { editor, draft, env, cwd, signal };
  const split = env['TMUX'] ? await editInSplit(job) : undefined;
  const ended = split ?? (face ? await face.aside(() => editHere(job)) : await editHere(job));
  return outcome(text, editor, draft, ended);
}

/** The command line of the editor to use; nothing if there is none. */
export function editorOf(env: NodeJS.ProcessEnv): string | undefined {
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
function editHere({ editor, draft, env, cwd, signal }: EditorJob): Promise<Ended> {
  const { promise, resolve } = Promise.withResolvers<Ended>();
  const how = { stdio: 'inherit', env, cwd, ...(signal ? { signal } : {}) } as const;
  const child =
    process.platform === 'win32'
      ? spawn(`${editor} "${draft.file}"`, { ...how, shell: true })
      : spawn('/bin/sh', ['-c', `${editor} "$@"`, 'sh', draft.file], how);
  child.once('error', (error) => resolve({ why: signal?.aborted ? interrupted : error.message }));
  child.once('exit', (code, signal) => resolve(code === null ? { why: `it was ended by ${signal}` } : { code }));
  return promise;
}

function outcome(text: string, editor: string, draft: Draft, ended: Ended): Edited {
  const failed = (why: string): Edited => {
    const kept = hasMore(draft, text);
    if (!kept) draft.remove();
    return kept ? { type: 'failed', why: `${why} ${keptIn(draft.file)}`, kept: draft.file } : { type: 'failed', why };
  };
  if ('why' in ended) return failed(`The editor (${editor}) failed: ${ended.why}.`);
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
function hasMore(draft: Draft, text: string): boolean {
  try {
    return draft.read() !== text;
  } catch {
    return existsSync(draft.file);
  }
}
