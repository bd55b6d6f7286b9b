// Opens the chosen model with the gateway around it; the embedded one asks before it fetches anything.
import { standIns } from '../../agent/stand-ins.ts';
import type { Provider } from '../../core/index.ts';
import { gateway, openProvider } from '../../providers/index.ts';
import type { Settings } from '../settings/index.ts';
import type { Chosen } from './model.ts';

/** Who is asked and told while a model is made ready. */
export type Host = {
  agrees(question: string): Promise<boolean>;
  /** Says how far something is; each sentence takes the place of the one before. */
  progress(text: string): void;
  say(text: string): void;
};

/** Opens a model. */
export async function openModel({ ref }: Chosen, { env }: Settings, host: Host): Promise<Provider> {
  const embedded = async ({ model }: { readonly model: string }): Promise<Provider> => {
    const { openEmbedded } = await import('./embedded.ts');
    return openEmbedded(model, host);
  };
  return gateway([await openProvider(ref, { env, providers: { ...standIns, embedded } })]);
}
