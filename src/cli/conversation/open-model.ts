// Opens the chosen model with the gateway around it; the embedded one asks before it fetches anything.
import { testProviders } from '../../agent/stand-ins.ts';
import type { Provider } from '../../core/index.ts';
import { familyOf, gateway, openProvider, type GatewayOptions } from '../../providers/index.ts';
import { addressOf } from '../../providers/resolve.ts';
import type { LiveRouter } from '../routing/live-router.ts';
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
export async function openModel(
  { ref }: Chosen,
  { env }: Settings,
  host: Host,
  options: GatewayOptions = {},
): Promise<Provider> {
  const embedded = async ({ model }: { readonly model: string }): Promise<Provider> => {
    const { openEmbedded } = await import('./embedded.ts');
    return openEmbedded(model, host);
  };
  const window = await effectiveWindow(ref, env);
  const known = window === undefined ? ref : { ...ref, contextWindow: window };
  return gateway([await openProvider(known, { env, providers: { ...testProviders, embedded } })], options);
}

/** Opens a model, or the router that will open one for each message. */
export async function modelOrRouter(chosen: Chosen, settings: Settings, host: Host): Promise<Provider | LiveRouter> {
  if (chosen.router === undefined) return openModel(chosen, settings, host);
  const { liveRouter } = await import('../routing/live-router.ts');
  return liveRouter(chosen.router, settings, host);
}

/** How long a server may take to say how much a model of its holds; without an answer it is found with the first request. */
const patienceMs = 3000;

/** The window that Ollama will really be asked for, so that a long conversation is compacted in time; of other providers the list says it. */
async function effectiveWindow(ref: Chosen['ref'], env: Settings['env']): Promise<number | undefined> {
  const family = familyOf(ref.provider);
  if (family?.dialect !== 'ollama' || ref.contextWindow !== undefined) return undefined;
  const { ollamaWindow } = await import('../../providers/ollama/window.ts');
  const signal = AbortSignal.timeout(patienceMs);
  return ollamaWindow(addressOf(family, ref.baseUrl, env), ref.model, undefined, { signal }).catch(() => undefined);
}
