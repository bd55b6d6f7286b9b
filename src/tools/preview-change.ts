// Previews the file changes of a call before it is approved: reads the files, applies the change in memory and returns unified diffs.
import { errorMessage, isObject, type FilePreview, type Json, type Workspace } from '../core/index.ts';
import { applyEdit, type EditInput } from './edit-file.ts';
import { createUnifiedDiff } from './file-change.ts';
import { isNotFoundError } from './text.ts';

/** The files that a call would change, or why it would change nothing. */
export type ChangePreview = { readonly files: readonly FilePreview[] } | { readonly failure: string };

/** Above this size the change is not compared. */
const maxComparedChars = 2_000_000;
/** A longer diff is not shown: the arguments of the call are shown instead. It is recorded with the question. */
const maxDiffChars = 200_000;

/** The text of a file before and after a call; null if there is no file. */
type TextChange = { readonly path: string; readonly before: string | null; readonly after: string | null };

/** Previews the changes of a call of edit_file, write_file, apply_patch or delete_file; undefined for other calls, and if the change cannot be shown as a diff. */
export async function previewFileChange(
  workspace: Workspace,
  call: { readonly tool: string; readonly input: Json },
): Promise<ChangePreview | undefined> {
  try {
    const changes = await planTextChanges(workspace, call);
    if (changes === undefined || 'failure' in changes) return changes;
    const files: FilePreview[] = [];
    for (const change of changes) {
      const file = await toFilePreview(change);
      if (file === undefined) return undefined;
      files.push(file);
    }
    return { files };
  } catch (error) {
    // The tool fails in the same way when it runs.
    return { failure: errorMessage(error) };
  }
}

async function planTextChanges(
  workspace: Workspace,
  { tool, input }: { readonly tool: string; readonly input: Json },
): Promise<readonly TextChange[] | { readonly failure: string } | undefined> {
  const { path, content, old_string: old, new_string: next, patch, paths, restore } = isObject(input) ? input : {};
  if (tool === 'apply_patch' && typeof patch === 'string' && Array.isArray(paths)) {
    const { planPatch } = await import('./patch/apply-patch.ts');
    const steps = await planPatch(workspace, { patch, paths: paths.map(String) });
    return Promise.all(
      steps.map(async (step) => ({
        path: step.path,
        before: await readText(workspace, step.path),
        after: step.type === 'write' ? step.text : null,
      })),
    ).then((changes) => (changes.every(isTextChange) ? changes : undefined));
  }
  if (typeof path !== 'string') return undefined;
  const isEdit = tool === 'edit_file' && typeof old === 'string' && typeof next === 'string';
  const isWrite = tool === 'write_file' && typeof content === 'string';
  if (!isEdit && !isWrite && !(tool === 'delete_file' && restore === undefined)) return undefined;
  const before = await readText(workspace, path);
  // The file is not text.
  if (before === undefined) return undefined;
  if (isWrite) return [{ path, before, after: content }];
  if (before === null) return { failure: `There is no file ${path}.` };
  if (!isEdit) return [{ path, before, after: null }];
  const edited = applyEdit(before, input as EditInput);
  if (edited === 'no-match') return { failure: `old_string is not in ${path}.` };
  return 'failure' in edited ? edited : [{ path, before, after: edited.after }];
}

const isTextChange = (change: { readonly before: unknown }): change is TextChange => change.before !== undefined;

/** Returns the text of a file; null if there is none, undefined if it is not text. */
async function readText(workspace: Workspace, path: string): Promise<string | null | undefined> {
  try {
    return (await workspace.read(path, { unseen: true })).text;
  } catch (error) {
    if (isNotFoundError(error)) return null;
    throw error;
  }
}

async function toFilePreview({ path, before, after }: TextChange): Promise<FilePreview | undefined> {
  const texts = { path, before: before ?? '', after: after ?? '' };
  if (texts.before.length + texts.after.length > maxComparedChars) return undefined;
  const diff = await createUnifiedDiff(texts);
  if (diff === undefined || diff.length > maxDiffChars) return undefined;
  const lines = diff.trimEnd().split('\n');
  const body = lines.filter((line) => !/^(?:---|\+\+\+) /.test(line));
  return {
    path,
    change: before === null ? 'create' : after === null ? 'delete' : 'edit',
    diff,
    added: body.filter((line) => line.startsWith('+')).length,
    removed: body.filter((line) => line.startsWith('-')).length,
  };
}

/** Returns the changed lines of a diff without context and line numbers: they stay the same if another part of the file changes. */
export const changedLines = (diff: string): readonly string[] =>
  diff.split('\n').filter((line, index) => index > 1 && /^[+-]/.test(line));
