// Opens a text in the user's editor and waits for it: in a split inside tmux, in the foreground otherwise.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { errorMessage } from '../../core/index.ts';
import type { TerminalUI } from '../tui/ui.ts';
import { environmentOutside, isExecutable } from '../../tools/index.ts';
import { draftKeptMessage, createDraftFile, type DraftFile } from './draft-file.ts';
import { runEditorInTmuxSplit, interruptedMessage, type EditorJob, type EditorExit } from './tmux-split.ts';

/** How to edit. */
export type EditorOptions = {
  /** The suffix of the file name, so that the editor knows the format, for example `.md`. */
  readonly suffix: string;
  readonly env?: NodeJS.ProcessEnv;
  readonly cwd?: string;
  /** Suspends the UI while the editor uses the terminal. */
  readonly ui?: Pick<TerminalUI, 'suspendFor'>;
  /** Ends the editor; text that was saved before is kept. */
  readonly signal?: AbortSignal;
};

/** The result of editing. On failure `draftPath` is the file with the text, if there is one; `message` names it. */
export type EditorResult =
  | { readonly type: 'saved'; readonly text: string }
  | { readonly type: 'unchanged' }
  | { readonly type: 'failed'; readonly message: string; readonly draftPath?: string };

/** Lets the user edit a text. A final line break that the editor added is removed. */
export async function openEditor(text: string, options: EditorOptions): Promise<EditorResult> {
  const { suffix, cwd = process.cwd(), ui, signal } = options;
  // The editor runs as the user, so it is not taken from a folder that commands can write.
  const env = environmentOutside(cwd, options.env);
  const editor = findEditor(env);
  if (editor === undefined)
    return {
      type: 'failed',
      message: 'No editor was found: set VISUAL or EDITOR, or install nvim, vim, vi or nano.',
    };
  let draft: DraftFile;
  try {
    draft = createDraftFile(text, suffix);
  } catch (error) {
    return { type: 'failed', message: `The text could not be written to a file: ${errorMessage(error)}` };
  }
  const job = { editor, draft, env, cwd, signal };
  const split = env['TMUX'] ? await runEditorInTmuxSplit(job) : undefined;
  const exit = split ?? (ui ? await ui.suspendFor(() => runEditorInForeground(job)) : await runEditorInForeground(job));
  return toEditorResult(text, editor, draft, exit);
}

/** Returns the command line of the editor; undefined if none is found. */
export function findEditor(env: NodeJS.ProcessEnv): string | undefined {
  const configured = [env['VISUAL'], env['EDITOR']].find((each) => each?.trim());
  return configured ?? ['nvim', 'vim', 'vi', 'nano'].find((name) => isOnPath(name, env['PATH'] ?? ''));
}

const isOnPath = (name: string, dirs: string): boolean =>
  dirs.split(path.delimiter).some((dir) => isExecutable(path.join(dir || '.', name)));

/** Runs the editor with a shell, since the variable may hold arguments and quotes; the file name is passed as an argument, not as shell text. */
function runEditorInForeground({ editor, draft, env, cwd, signal }: EditorJob): Promise<EditorExit> {
  const { promise, resolve } = Promise.withResolvers<EditorExit>();
  const options = { stdio: 'inherit', env, cwd, ...(signal ? { signal } : {}) } as const;
  const child =
    process.platform === 'win32'
      ? spawn(`${editor} "${draft.file}"`, { ...options, shell: true })
      : spawn('/bin/sh', ['-c', `${editor} "$@"`, 'sh', draft.file], options);
  child.once('error', (error) => resolve({ message: signal?.aborted ? interruptedMessage : error.message }));
  child.once('exit', (code, signal) => resolve(code === null ? { message: `it was ended by ${signal}` } : { code }));
  return promise;
}

function toEditorResult(text: string, editor: string, draft: DraftFile, exit: EditorExit): EditorResult {
  const failed = (reason: string): EditorResult => {
    const kept = hasUnsavedText(draft, text);
    if (!kept) draft.remove();
    return kept
      ? { type: 'failed', message: `${reason} ${draftKeptMessage(draft.file)}`, draftPath: draft.file }
      : { type: 'failed', message: reason };
  };
  if ('message' in exit) return failed(`The editor (${editor}) failed: ${exit.message}.`);
  if (exit.code === 126 || exit.code === 127)
    return failed(`The editor (${editor}) could not be started: set VISUAL or EDITOR to an installed one.`);
  if (exit.code !== 0)
    return failed(`The editor (${editor}) exited with code ${exit.code}, so the edit was not applied.`);
  try {
    const saved = draft.read();
    draft.remove();
    const edited = !text.endsWith('\n') && saved.endsWith('\n') ? saved.slice(0, -1) : saved;
    return edited === text ? { type: 'unchanged' } : { type: 'saved', text: edited };
  } catch (error) {
    return failed(`The saved file cannot be read: ${errorMessage(error)}.`);
  }
}

/** Whether the file differs from the original text. */
function hasUnsavedText(draft: DraftFile, text: string): boolean {
  try {
    return draft.read() !== text;
  } catch {
    return existsSync(draft.file);
  }
}
