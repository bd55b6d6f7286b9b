// The embedded model from the terminal: says what it is, asks before it fetches, and shows how far it is.
import type { Provider } from '../../core/index.ts';
import { embeddedProvider } from '../../providers/embedded/embedded.ts';
import type { ModelHost } from './open-model.ts';

/** Opens the embedded model. */
export async function openEmbeddedModel(model: string, host: ModelHost): Promise<Provider> {
  let shown = -1;
  const provider = await embeddedProvider({
    ...(model ? { model } : {}),
    consent: ({ question }) => host.confirm(question),
    progress(progress) {
      if (progress.step === 'waiting') host.notify('Waiting for another process that is fetching it …');
      if (progress.step === 'runtime' && !progress.done) host.notify('Fetching the runtime …');
      if (progress.step !== 'weights') return;
      const percent = Math.floor((100 * progress.done) / progress.total);
      if (percent > shown) host.progress(`Fetching the model … ${(shown = percent)} %`);
    },
  });
  host.notify(provider.description);
  return provider;
}
