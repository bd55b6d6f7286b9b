// Which model to use when none was named: what was set on purpose first, then what runs on this machine, and the embedded one last.
import { FairleadError } from '../core/index.ts';
import { discover, listModels, type Found, type ModelRef } from '../providers/index.ts';

/** The model to use; says on standard error what was found. */
export async function chooseModel(): Promise<Exclude<ModelRef, string>> {
  for (const found of await discover()) {
    const model = await firstModel(found);
    if (model === undefined) continue;
    process.stderr.write(`No model was named; using ${found.provider}/${model} (${why(found)}).\n`);
    return refOf(found, model);
  }
  throw new FairleadError('cli/no-model', 'No model was found.', {
    blame: 'user',
    hint: 'Name one with --model <provider/model>.',
  });
}

async function firstModel(found: Found): Promise<string | undefined> {
  if (found.how === 'embedded') return 'tinyllama';
  try {
    const models = await listModels(
      found.how === 'server' || found.how === 'address'
        ? { provider: found.provider, baseUrl: found.baseUrl }
        : found.provider,
    );
    return (models.find((model) => model.tools === true) ?? models[0])?.id;
  } catch {
    return undefined;
  }
}

function why(found: Found): string {
  if (found.how === 'key') return `${found.variable} is set`;
  if (found.how === 'embedded') return 'no key and no server was found; it is small and often wrong';
  return `a server answers at ${found.baseUrl}`;
}

const refOf = (found: Found, model: string): Exclude<ModelRef, string> => ({
  provider: found.provider,
  model,
  ...(found.how === 'server' || found.how === 'address' ? { baseUrl: found.baseUrl } : {}),
});
