// Opens a text in the user's editor and waits for it: in a split inside tmux, in the foreground otherwise.
import { withProgramName } from '../args/program-name.ts';
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
  /** Whether the editor opens only in a split of tmux. */
  readonly needsTmux?: boolean;
};

/** The result of editing. On failure `draftPath` is the file with the text, if there is one; `message` names it. */
export type EditorResult =
  | { readonly type: 'saved'; readonly text: string }
  | { readonly type: 'unchanged' }
  | { readonly type: 'failed'; readonly message: string; readonly draftPath?: string };

/** Lets the user edit a text. A final line break that the editor added is removed. */
export async function openEditor(text: string, options: EditorOptions): Promise<EditorResult> {
  const found = prepareEditor(options);
  if ('message' in found) return { type: 'failed', message: found.message };
  const { editor, env, cwd } = found;
  let draft: DraftFile;
  try {
    draft = createDraftFile(text, options.suffix);
  } catch (error) {
    return { type: 'failed', message: `The text could not be written to a file: ${errorMessage(error)}` };
  }
  const exit = await runEditor({ editor, draft, env, cwd, signal: options.signal }, options);
  return toEditorResult(text, editor, draft, exit);
}

/** Lets the user edit a file in place; returns a message if the editor failed. What the user saved is in the file in both cases. */
export async function openFileInEditor(
  file: string,
  options: Omit<EditorOptions, 'suffix'>,
): Promise<string | undefined> {
  const found = prepareEditor(options);
  if ('message' in found) return found.message;
  const { editor, env, cwd } = found;
  // The directory is for the files of the split; the editor gets the file itself.
  const scratch = createDraftFile('', '.txt');
  try {
    const exit = await runEditor({ editor, draft: { ...scratch, file }, env, cwd, signal: options.signal }, options);
    return 'code' in exit && exit.code === 0 ? undefined : formatEditorFailure(editor, exit);
  } finally {
    scratch.remove();
  }
}

type FoundEditor = { readonly editor: string; readonly env: NodeJS.ProcessEnv; readonly cwd: string };

/** Finds the editor and its environment, or says why none can be opened. */
function prepareEditor({
  cwd = process.cwd(),
  env: given,
  needsTmux = false,
}: Omit<EditorOptions, 'suffix'>): FoundEditor | { readonly message: string } {
  // The editor runs as the user, so it is not taken from a folder that commands can write.
  const env = environmentOutside(cwd, given);
  const editor = findEditor(env);
  if (editor === undefined)
    return { message: 'No editor was found: set VISUAL or EDITOR, or install nvim, vim, vi or nano.' };
  return needsTmux && !env['TMUX'] ? { message: withProgramName(noTmuxMessage) } : { editor, env, cwd };
}

const noTmuxMessage =
  'An editor opens only inside tmux: start this program in tmux, or allow it elsewhere: fairlead config set editor.tmux optional';

/** Runs the editor in a split inside tmux, in the foreground otherwise. */
async function runEditor(job: EditorJob, { ui, needsTmux }: Omit<EditorOptions, 'suffix'>): Promise<EditorExit> {
  const split = job.env['TMUX'] ? await runEditorInTmuxSplit(job) : undefined;
  if (split !== undefined) return split;
  if (needsTmux) return { message: 'tmux could not open a split' };
  return ui ? ui.suspendFor(() => runEditorInForeground(job)) : runEditorInForeground(job);
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
  if (!('code' in exit)) return failed(formatEditorFailure(editor, exit));
  if (exit.code !== 0) {
    const failure = formatEditorFailure(editor, exit);
    return failed(isStarted(exit.code) ? `${failure.slice(0, -1)}, so the edit was not applied.` : failure);
  }
  try {
    const saved = draft.read();
    draft.remove();
    const edited = !text.endsWith('\n') && saved.endsWith('\n') ? saved.slice(0, -1) : saved;
    return edited === text ? { type: 'unchanged' } : { type: 'saved', text: edited };
  } catch (error) {
    return failed(`The saved file cannot be read: ${errorMessage(error)}.`);
  }
}

/** A shell exits with 126 or 127 if it cannot start a program. */
const isStarted = (code: number): boolean => code !== 126 && code !== 127;

/** The sentence about an editor that failed. */
function formatEditorFailure(editor: string, exit: EditorExit): string {
  if (!('code' in exit)) return `The editor (${editor}) failed: ${exit.message}.`;
  return isStarted(exit.code)
    ? `The editor (${editor}) exited with code ${exit.code}.`
    : `The editor (${editor}) could not be started: set VISUAL or EDITOR to an installed one.`;
}

/** Whether the file differs from the original text. */
function hasUnsavedText(draft: DraftFile, text: string): boolean {
  try {
    return draft.read() !== text;
  } catch {
    return existsSync(draft.file);
  }
}
