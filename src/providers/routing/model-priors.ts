// What is known of a model before it was ever asked: whether what it is told stays here, and how hard a task it is trusted with.
import { isLoopback } from '../discover.ts';
import { findFamily } from '../families.ts';
import { resolveBaseUrl, type Environment, type ModelRef } from '../resolve.ts';

/** Whether nothing that this model is told leaves the person's machines, as far as that can be known: a server of a known kind on this machine, or on a host that the person calls their own. */
export function keepsDataLocal(
  { provider, model, baseUrl }: Exclude<ModelRef, string>,
  env: Environment,
  ownHosts: readonly string[] = [],
): boolean {
  const family = findFamily(provider);
  if (!family?.local) return false;
  if (family.protocol === 'embedded') return true;
  // A proxy may pass everything on to anybody, and Ollama passes models of such a name on to its own service.
  if (!family.free || model.endsWith('cloud')) return false;
  const address = resolveBaseUrl(family, baseUrl, env);
  const url = URL.parse(address);
  return isLoopback(address) || (url !== null && [url.hostname, url.host].some((host) => ownHosts.includes(host)));
}

/** Billions of parameters, as a name such as `qwen3:8b` tells them; nothing if it does not. */
export function parseBillions(model: string): number | undefined {
  const found = /(?:^|[^a-z\d.])(\d+(?:\.\d+)?)b(?![a-z\d])/i.exec(model);
  return found ? Number(found[1]) : undefined;
}

/** How much a model of so many billions of parameters is trusted with, where the person did not say. */
const qualityBySize: readonly (readonly [billions: number, quality: number])[] = [
  [4, 0.3],
  [10, 0.45],
  [20, 0.55],
  [40, 0.7],
];

/** How hard a task a model is trusted with, from 0 to 1, where the person did not say: a hosted model with nearly all, one of one's own by its size. */
export function defaultQuality({ provider, model }: Exclude<ModelRef, string>): number {
  const family = findFamily(provider);
  if (!family?.local) return 0.95;
  if (family.protocol === 'embedded') return 0.15;
  const billions = parseBillions(model);
  if (billions === undefined) return 0.5;
  return qualityBySize.find(([most]) => billions < most)?.[1] ?? 0.8;
}
