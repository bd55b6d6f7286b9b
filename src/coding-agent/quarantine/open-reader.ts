// Opens the model that reads in quarantine: that of the setting quarantine.model, else the model of the session.
import { FairleadError, type AskedModel, type Provider, type ToolContext } from '../../core/index.ts';
import { lookUpModel, type ResolvedModel } from '../models/resolve-model.ts';
import type { Settings } from '../settings/index.ts';
import { openVerifyModel } from '../verification/judges.ts';
import { createVerifyModel } from '../verification/verify-model.ts';

/** What a reader is opened with. */
export type ReaderContext = {
  readonly settings: Settings;
  readonly notify: (text: string) => void;
  /** Throws if the model may not read the session. */
  readonly assertModelAllowed?: (model: ResolvedModel) => Promise<void>;
  /** Wraps the model, such as with the budget of a tenant. */
  readonly wrapProvider?: (provider: Provider) => Provider;
};

/** Opens the reader of a call. */
export async function openReader(
  { settings, notify, assertModelAllowed, wrapProvider }: ReaderContext,
  { agent: { provider } }: ToolContext,
): Promise<AskedModel> {
  const name = settings.all.get('quarantine.model')?.value;
  if (typeof name !== 'string') return createVerifyModel(provider.model, provider, provider.family);
  const model = lookUpModel(name, settings) ?? throwUnknown(name);
  await assertModelAllowed?.(model);
  return openVerifyModel(model, settings, { confirm: async () => false, progress: () => {}, notify }, wrapProvider);
}

function throwUnknown(name: string): never {
  throw new FairleadError('quarantine/unknown-model', `There is no model "${name}" to read in quarantine.`, {
    blame: 'user',
    hint: '"fairlead models" lists the models; change quarantine.model.',
  });
}
