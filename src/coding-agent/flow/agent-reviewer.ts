// The reviewer of runs without a user: opens the model that the setting reviewer.model names, with the same redaction, budget and privacy as every other model.
import { FairleadError, type AskedModel, type NamedView, type Provider } from '../../core/index.ts';
import { createFlowReviewer, reviewView, type FlowReviewer } from '../../guards/flow/index.ts';
import { withDlp } from '../dlp/with-dlp.ts';
import { lookUpModel, type ResolvedModel } from '../models/resolve-model.ts';
import { createStrictRedactor, type Settings } from '../settings/index.ts';
import { openVerifyModel } from '../verification/judges.ts';
import { createVerifyModel } from '../verification/verify-model.ts';

/** What a reviewer is opened with. */
export type AgentReviewerContext = {
  readonly settings: Settings;
  /** The model: its name, as the user configured it, or a provider. */
  readonly model: string | Provider;
  readonly notify: (text: string) => void;
  /** Throws if the model may not read the session. */
  readonly assertModelAllowed?: ((model: ResolvedModel) => Promise<void>) | undefined;
  /** Wraps the model, such as with the budget of a tenant. */
  readonly wrapProvider?: ((provider: Provider) => Provider) | undefined;
};

/** A reviewer of calls, and the view that it reads. */
export type AgentReviewer = { readonly review: FlowReviewer; readonly view: NamedView<unknown> };

/** Creates the reviewer of an agent: the model that is given, or that of the settings. It is opened for the first review. */
export function createAgentReviewer(
  context: Omit<AgentReviewerContext, 'model' | 'notify'> & { readonly reviewer?: string | Provider },
  notify: (text: string) => void,
): AgentReviewer {
  const model = context.reviewer ?? String(context.settings.all.get('reviewer.model')?.value);
  const review = createFlowReviewer({ open: () => openReviewerModel({ ...context, model, notify }) });
  return { review, view: reviewView };
}

/** Opens the model of a reviewer. What it reads has no keys of the user. */
export async function openReviewerModel(context: AgentReviewerContext): Promise<AskedModel> {
  const { settings, model: given, notify, assertModelAllowed, wrapProvider = (provider) => provider } = context;
  const host = { confirm: async () => false, progress: () => {}, notify };
  if (typeof given !== 'string') {
    const ref = { provider: given.family, model: given.model };
    await assertModelAllowed?.({ name: given.model, ref });
    const redactor = createStrictRedactor(settings);
    const opened = createVerifyModel(given.model, withDlp(wrapProvider(given), { ref }, settings, host), given.family);
    return {
      ...opened,
      ask: (request, signal) => opened.ask({ ...request, prompt: redactor.redact(request.prompt) }, signal),
    };
  }
  const model = lookUpModel(given, settings) ?? throwUnknown(given);
  await assertModelAllowed?.(model);
  return openVerifyModel(model, settings, host, wrapProvider);
}

function throwUnknown(name: string): never {
  throw new FairleadError('flow/unknown-reviewer', `There is no model "${name}" to review calls.`, {
    blame: 'user',
    hint: '"fairlead models" lists the models; change reviewer.model.',
  });
}
