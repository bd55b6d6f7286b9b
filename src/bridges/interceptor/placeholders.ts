// Placeholders for the model and tools that the caller runs.
import { FairleadError, type Price, type Provider, type Tool, type ToolSpec } from '../../core/index.ts';

/** Creates a placeholder for the caller's model; it is never called. */
export const createPlaceholderProvider = (
  model: string,
  { price, window }: { readonly price?: Price; readonly window?: number },
): Provider => ({
  family: 'guided',
  model: model || 'unknown',
  ...(price ? { price } : {}),
  ...(window === undefined ? {} : { contextWindow: window }),
  stream: () => throwNotExecutable(`model ${model}`),
});

/** Creates placeholders for the caller's tools. */
export const createPlaceholderTools = (specs: readonly ToolSpec[], reads: readonly string[] = []): readonly Tool[] =>
  specs.map((spec) => ({
    ...spec,
    effect: reads.includes(spec.name) ? 'read' : 'external',
    validate: () => undefined,
    execute: () => throwNotExecutable(`tool ${spec.name}`),
  }));

function throwNotExecutable(subject: string): never {
  throw new FairleadError(
    'bridge/not-executable',
    `The ${subject} belongs to the caller: only the caller can run it.`,
    {
      blame: 'harness',
    },
  );
}
