// Opens the embedded model: asks the user before it downloads anything, and shows the progress.
import type { Provider } from '../../core/index.ts';
import { embeddedProvider } from '../../providers/embedded/index.ts';
import type { ModelHost } from './open-model.ts';

/** Opens the embedded model. */
export async function openEmbeddedModel(model: string, host: ModelHost): Promise<Provider> {
  let shown = -1;
  const provider = await embeddedProvider({
    ...(model ? { model } : {}),
    consent: ({ question }) => host.confirm(question),
    progress(progress) {
      if (progress.step === 'waiting') host.notify('Waiting for another process that is downloading it …');
      if (progress.step === 'runtime' && !progress.done) host.notify('Downloading the runtime …');
      if (progress.step !== 'weights') return;
      const percent = Math.floor((100 * progress.done) / progress.total);
      if (percent > shown) host.progress(`Downloading the model … ${(shown = percent)} %`);
    },
  });
  host.notify(provider.description);
  return provider;
}
