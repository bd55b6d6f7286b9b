// The errors of creating a coding agent.
import { FairleadError, type Provider } from '../core/index.ts';

/** Throws that no model is open. */
export function throwNoModel(): never {
  throw new FairleadError('coding-agent/no-model', 'No model is open yet.', { blame: 'harness' });
}

/** Creates the error about a model that cannot call the tools of a request. */
export function noToolCallsError({ model }: Provider): FairleadError {
  const hint = 'Use another model, or send the request without tools.';
  const message = `${model} cannot call tools, but the request has tools.`;
  return new FairleadError('coding-agent/no-calls', message, { blame: 'user', hint });
}
