// The apply_patch tool: applies a patch to several files, completely or not at all.
import {
  toolOutput,
  escapeInvisibleLine,
  type FileChange,
  type RunState,
  type ToolOutput,
  type Tool,
  type Workspace,
} from '../../core/index.ts';
import { lastReadOf } from '../last-read.ts';
import { readTextFile } from '../text.ts';
import { completesInCpuTime } from '../with-timeout.ts';
import type { FilePatch } from './parse.ts';

/** The change of one file. */
export type PatchStep =
  | { readonly type: 'write'; readonly path: string; readonly text: string; readonly over: string | null }
  | { readonly type: 'remove'; readonly path: string };

/** Creates the apply_patch tool. */
export const applyPatch = (workspace: Workspace): Tool => ({
  name: 'apply_patch',
  description:
    'Apply a unified patch to one or more files that were read before, completely or not at all. /dev/null as the old name creates a file, as the new name deletes it.',
  input: {
    type: 'object',
    properties: {
      paths: {
        type: 'array',
        items: { type: 'string' },
        minItems: 1,
        maxItems: 200,
        description: 'Every file that the patch names.',
      },
      patch: { type: 'string', minLength: 1, maxLength: 1_000_000 },
    },
    required: ['paths', 'patch'],
    additionalProperties: false,
  },
  effect: 'write',
  untrustedOutput: true,
  async execute(input, { state }): Promise<ToolOutput> {
    const { patch } = input as PatchInput;
    const changes = await applySteps(workspace, await planPatch(workspace, input as PatchInput), state);
    const [only] = changes;
    return toolOutput({
      text: changes
        .map(({ before, after, path }) => `${changeVerb(before, after)} ${escapeInvisibleLine(path)}.`)
        .join('\n'),
      // One change is reported in the form of the other file tools, several as a list.
      data: { ...(changes.length === 1 && only ? only : { changes }), diff: patch },
    });
  },
});

/** The input of apply_patch. */
export type PatchInput = { readonly paths: readonly string[]; readonly patch: string };

/** Returns the changes that a patch makes, without making them. Throws if it does not fit the files. */
export async function planPatch(workspace: Workspace, { paths, patch }: PatchInput): Promise<readonly PatchStep[]> {
  const { parseFilePatches, patchError } = await import('./parse.ts');
  const files = parseFilePatches(patch);
  // Gates check the paths of a call: a patch must not touch any other file.
  const names = files.flatMap(({ from, to }) => [from, to]).filter((name) => name !== undefined);
  const stranger = names.find((name) => !paths.includes(name));
  if (stranger !== undefined) throw patchError(`${escapeInvisibleLine(stranger)} is not among the paths.`);
  const planned = await Promise.allSettled(files.map((file) => patchSteps(workspace, file)));
  const failures = planned.flatMap((each) => (each.status === 'rejected' ? [each.reason as Error] : []));
  if (failures.length) throw patchError(failures.map(({ message }) => message).join('\n'));
  return planned.flatMap((each) => (each.status === 'fulfilled' ? each.value : []));
}

const changeVerb = (before: string | null, after: string | null): string =>
  before === null ? 'Created' : after === null ? 'Deleted' : 'Patched';

async function patchSteps(workspace: Workspace, { from, to, copies, patch }: FilePatch): Promise<readonly PatchStep[]> {
  const { applyPatch: apply } = await import('diff');
  const { text, hash } = from === undefined ? { text: '', hash: null } : await readTextWithHash(workspace, from);
  let next = undefined as string | false | undefined;
  // The search for the place of a hunk takes quadratic time.
  if (!completesInCpuTime(() => (next = apply(text, patch, { fuzzFactor: 0 }))) || next === undefined)
    throw new Error(`It takes too long to find the hunks in ${escapeInvisibleLine(from ?? to ?? '')}; use edit_file.`);
  if (next === false) throw new Error(`The hunks do not fit ${escapeInvisibleLine(from ?? to ?? '')}; read it again.`);
  if (to === undefined && next !== '')
    throw new Error(`The patch deletes ${escapeInvisibleLine(from ?? '')} but keeps some of its text.`);
  const removed: readonly PatchStep[] =
    from !== undefined && from !== to && !copies ? [{ type: 'remove', path: from }] : [];
  if (to === undefined) return removed;
  return [{ type: 'write', path: to, text: next, over: from === to ? hash : null }, ...removed];
}

async function readTextWithHash(
  workspace: Workspace,
  path: string,
): Promise<{ readonly text: string; readonly hash: string }> {
  const { content } = await readTextFile(workspace, path, { unseen: true });
  return { text: content.text, hash: content.hash };
}

/** Applies every step. If one fails, the earlier ones are undone. */
async function applySteps(
  workspace: Workspace,
  steps: readonly PatchStep[],
  state: RunState,
): Promise<readonly FileChange[]> {
  const done: FileChange[] = [];
  try {
    for (const step of steps) done.push(await applyStep(workspace, step, state));
    return done;
  } catch (error) {
    for (const change of done.toReversed()) {
      await workspace.restore(change);
      // The model has seen the restored content.
      if (change.before !== null) await workspace.read(change.path);
    }
    throw error;
  }
}

async function applyStep(workspace: Workspace, step: PatchStep, state: RunState): Promise<FileChange> {
  if (step.type === 'write')
    return workspace.write(step.path, step.text, {
      over: step.over,
      ...lastReadOf(state, workspace.locate(step.path)),
    });
  if (!workspace.remove) throw new Error('Files cannot be deleted here, so nothing was changed.');
  return workspace.remove(step.path);
}
