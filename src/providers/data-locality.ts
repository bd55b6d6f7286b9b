// Decides whether data that is sent to a model stays on the machines of the user.
import { isLoopbackUrl } from '../core/index.ts';
import { findFamily } from './families.ts';
import { resolveBaseUrl, type Environment, type ModelRef } from './resolve.ts';

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
