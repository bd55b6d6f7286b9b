// Opens the embedded model: downloads it if the user named it or agrees, and shows the progress.
import type { Provider } from '../../core/index.ts';
import { embeddedProvider } from '../../providers/embedded/index.ts';
import type { ModelHost } from './open-model.ts';

/** Opens the embedded model. A user who named it has consented to its download; otherwise the user is asked. */
export async function openEmbeddedModel(
  model: string,
  host: ModelHost,
  { consented }: { readonly consented: boolean },
): Promise<Provider> {
  let shown = -1;
  const provider = await embeddedProvider({
    ...(model ? { model } : {}),
    // No `env`: that of the settings holds keys, and npm is a child process.
    consent({ question, announcement }) {
      if (!consented) return host.confirm(question);
      host.notify(`${announcement} Ctrl+C cancels.`);
      return true;
    },
    // The request names the model and carries the token of the user.
    mayAskHub: (address) =>
      consented || host.confirm(`${address} is not on this machine. Ask the Hugging Face hub for its size?`),
    ...(host.signal ? { signal: host.signal } : {}),
    progress(progress) {
      if (progress.step === 'waiting') host.progress('Waiting for another process that is downloading it …');
      if (progress.step === 'runtime' && !progress.done) host.progress('Downloading the runtime …');
      if (progress.step !== 'weights') return;
      const percent = Math.floor((100 * progress.done) / progress.total);
      if (percent > shown) host.progress(`Downloading the model … ${(shown = percent)} %`);
    },
  }).finally(() => host.progress(''));
  host.notify(provider.description);
  return provider;
}
