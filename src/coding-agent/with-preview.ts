// Wraps gates so that their questions have previews. What creates a preview is loaded for the first question.
import type { Gate, RunState, ToolCall } from '../core/index.ts';
import type { PreviewOptions } from './approval-preview.ts';

/** What previews are created from; the sentences about a call can depend on the state of the session. */
export type PreviewSources = Omit<PreviewOptions, 'describe'> & {
  readonly describe?: (call: Pick<ToolCall, 'tool' | 'input'>, state: RunState) => Promise<readonly string[]>;
};

/**
 * Wraps a gate so that each of its questions has a preview. A question about a file change contains the lines that really
 * change: if the file changes before the call runs, the question is another one, and the user is asked again.
 */
export function withPreview(gate: Gate, { describe, ...options }: PreviewSources): Gate {
  return async (call, state) => {
    const decision = await gate(call, state);
    // A preview with a warning is that of the flow policy, which does not know the files and the command.
    if (decision.type !== 'ask' || (decision.preview && !decision.preview.warning)) return decision;
    const { addPreview } = await import('./approval-preview.ts');
    return addPreview(decision, call, {
      ...options,
      ...(describe ? { describe: (target) => describe(target, state) } : {}),
    });
  };
}
