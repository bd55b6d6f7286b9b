// The small models that are offered for a download, with what each can do. Sizes and licences are those of the hub at the time.
import { describeHubFile } from './hub-model.ts';
import { parseHubAddress } from './hub-address.ts';
import { fetchHubFile, getHubEndpoint, type HubOptions } from './hub.ts';
import { tinyllama } from './models.ts';
import { runtimeBytes } from './npm.ts';

/** A model that is offered for a download. */
export type OfferedModel = {
  /** The name of the embedded provider for it: an address on the hub, or `tinyllama`. */
  readonly model: string;
  readonly label: string;
  /** What it can do, in one sentence. */
  readonly ability: string;
};

/** An offered model with its size and licence. */
export type SizedModel = OfferedModel & { readonly bytes: number; readonly license: string };

/** The models of the hub that are offered, smallest first. All are single files, call tools in their own format and are free to use. */
export const offeredModels: readonly OfferedModel[] = [
  {
    model: 'hf:Qwen/Qwen3-0.6B-GGUF:Q8_0',
    label: 'Qwen3 0.6B',
    ability: 'short questions about one file; often wrong',
  },
  {
    model: 'hf:Qwen/Qwen3-1.7B-GGUF:Q8_0',
    label: 'Qwen3 1.7B',
    ability: 'reads and searches files; simple edits',
  },
  {
    model: 'hf:ggml-org/SmolLM3-3B-GGUF:Q4_K_M',
    label: 'SmolLM3 3B',
    ability: 'explains code; simple edits; slower',
  },
  {
    model: 'hf:unsloth/Qwen3-4B-Instruct-2507-GGUF:Q4_K_M',
    label: 'Qwen3 4B Instruct',
    ability: 'the best of these; slowest; needs 5 GB of memory',
  },
];

/** The last resort, which comes from the npm registry. */
export const lastResortModel: SizedModel = {
  model: 'tinyllama',
  label: 'TinyLlama 1.1B',
  ability: 'slow and unreliable; a last resort',
  bytes: tinyllama.bytes + runtimeBytes,
  license: tinyllama.license,
};

/** What the hub offers now. */
export type HubOffer = {
  /** The host of the hub. */
  readonly host: string;
  /** The models that the hub has; empty if it cannot be reached. */
  readonly models: readonly SizedModel[];
};

/** The time for the hub to answer before only the last resort is offered. */
const offerTimeoutMs = 5000;

/** Asks the hub for the sizes and licences of the offered models. A model that the hub does not have is left out. */
export async function fetchOffer(options: HubOptions): Promise<HubOffer> {
  const { host } = getHubEndpoint(options.env);
  const found = await Promise.allSettled(
    offeredModels.map(async (offered): Promise<SizedModel> => {
      const file = await fetchHubFile(parseHubAddress(offered.model), { timeoutMs: offerTimeoutMs, ...options });
      const { bytes, license } = describeHubFile(file);
      return { ...offered, bytes: bytes + runtimeBytes, license };
    }),
  );
  return { host, models: found.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : [])) };
}
