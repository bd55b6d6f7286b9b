// LangChain middleware for `createAgent`: intercepts the agent's model.
import { isObject } from '../../core/index.ts';
import { toConversationId } from '../model-intercept/options.ts';
import { wrapChatModelWith, createWrapContext, type LangChainOptions } from './model.ts';

/** A middleware of LangChain, for `createAgent({ middleware: [...] })`. */
export type FairleadAgentMiddleware = {
  name: string;
  wrapModelCall<Answer>(request: object, handler: (request: never) => Answer): Promise<Awaited<Answer>>;
};

type MiddlewareRequest = {
  readonly model: object;
  readonly runtime?: { readonly configurable?: { readonly thread_id?: unknown } };
};

/** Creates a middleware that adds notes, denies calls and stops runs. A conversation is recognized by `thread_id`, or by its prefix. */
export function fairleadMiddleware(options: LangChainOptions): FairleadAgentMiddleware {
  const way = createWrapContext(options);
  return {
    name: 'fairlead',
    async wrapModelCall<Answer>(given: object, handler: (request: never) => Answer): Promise<Awaited<Answer>> {
      const request = given as MiddlewareRequest;
      const conversation = toConversationId(request.runtime?.configurable?.thread_id);
      const model = wrapChatModelWith(await resolveModel(request.model), { ...way, conversation });
      return await handler({ ...request, model } as never);
    },
  };
}

/** LangChain opens a model given by name on first use. */
async function resolveModel(model: object): Promise<object> {
  const { _getModelInstance: open } = model as { readonly _getModelInstance?: unknown };
  if (typeof open !== 'function') return model;
  const opened: unknown = await open.call(model);
  return isObject(opened) ? opened : model;
}
