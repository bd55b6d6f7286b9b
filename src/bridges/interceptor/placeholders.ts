// What stands in our records for the model and the tools that the caller runs itself.
import { FairleadError, type Price, type Provider, type Tool, type ToolSpec } from '../../core/index.ts';

/** The caller's model: known by name, never asked by us. */
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

/** The caller's tools. */
export const createPlaceholderTools = (specs: readonly ToolSpec[], reads: readonly string[] = []): readonly Tool[] =>
  specs.map((spec) => ({
    ...spec,
    effect: reads.includes(spec.name) ? 'read' : 'external',
    validate: () => undefined,
    execute: () => throwNotExecutable(`tool ${spec.name}`),
  }));

function throwNotExecutable(what: string): never {
  throw new FairleadError('bridge/not-ours', `The ${what} belongs to the caller and is run by it.`, {
    blame: 'harness',
  });
}
