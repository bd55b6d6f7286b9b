// Where a model was opened: the fields of an epoch that tell two models with the same name apart.
import type { Fact } from './fact.ts';

/** Where a model was opened: the provider, its host and the name of the model there. */
export type ModelOrigin = Pick<Fact & { readonly type: 'epoch-started' }, 'modelProvider' | 'modelHost' | 'modelName'>;

type MaybeOrigin = { readonly [field in keyof ModelOrigin]: ModelOrigin[field] | undefined };

/** The origin of the model of an epoch or an agent, without absent fields. */
export const getModelOrigin = ({ modelProvider, modelHost, modelName }: MaybeOrigin): ModelOrigin => ({
  ...(modelProvider === undefined ? {} : { modelProvider }),
  ...(modelHost === undefined ? {} : { modelHost }),
  ...(modelName === undefined ? {} : { modelName }),
});
