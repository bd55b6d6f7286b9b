// Prior knowledge about a model: data locality and default quality by size.
import { isLoopbackUrl } from '../../core/index.ts';
import { findFamily } from '../families.ts';
import { resolveBaseUrl, type Environment, type ModelRef } from '../resolve.ts';

/** Returns true if data sent to this model stays on the user's machines: a known local server on loopback or on a host the user declared private. */
export function keepsDataLocal(
  { provider, model, baseUrl }: Exclude<ModelRef, string>,
  env: Environment,
  ownHosts: readonly string[] = [],
): boolean {
  const family = findFamily(provider);
  if (!family?.local) return false;
  if (family.protocol === 'embedded') return true;
  // A proxy can forward anywhere, and Ollama forwards models with such names to its service.
  if (!family.free || model.endsWith('cloud')) return false;
  const address = resolveBaseUrl(family, baseUrl, env);
  const url = URL.parse(address);
  return isLoopbackUrl(address) || (url !== null && [url.hostname, url.host].some((host) => ownHosts.includes(host)));
}

/** Parses billions of parameters from a name such as `qwen3:8b`. */
export function parseBillions(model: string): number | undefined {
  const found = /(?:^|[^a-z\d.])(\d+(?:\.\d+)?)b(?![a-z\d])/i.exec(model);
  return found ? Number(found[1]) : undefined;
}

/** Default quality by billions of parameters. */
const qualityBySize: readonly (readonly [billions: number, quality: number])[] = [
  [4, 0.3],
  [10, 0.45],
  [20, 0.55],
  [40, 0.7],
];

/** Default quality from 0 to 1: high for hosted models, by size for local ones. */
export function defaultQuality({ provider, model }: Exclude<ModelRef, string>): number {
  const family = findFamily(provider);
  if (!family?.local) return 0.95;
  if (family.protocol === 'embedded') return 0.15;
  const billions = parseBillions(model);
  if (billions === undefined) return 0.5;
  return qualityBySize.find(([maxBillions]) => billions < maxBillions)?.[1] ?? 0.8;
}
