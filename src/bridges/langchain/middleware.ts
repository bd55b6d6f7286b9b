// Guides an agent of `createAgent`: a middleware that puts a guide in front of the agent's model.
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

/** A middleware that adds notes, refuses calls and stops. A conversation is known by its `thread_id`, or by its beginning. */
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

/** A model that is known by name only is opened by LangChain when it is asked. */
async function resolveModel(model: object): Promise<object> {
  const { _getModelInstance: open } = model as { readonly _getModelInstance?: unknown };
  if (typeof open !== 'function') return model;
  const opened: unknown = await open.call(model);
  return isObject(opened) ? opened : model;
}
