// Discovers usable providers: API keys in the environment and model servers on loopback. Sends no request beyond loopback.
import { isObject, isLoopbackUrl } from '../core/index.ts';
import { families, findFamily, type ProviderFamily } from './families.ts';
import { objectsAt } from './models/model-info.ts';
import { resolveBaseUrl, findApiKey, type Environment } from './resolve.ts';

/** A provider that is usable now. */
export type DiscoveredProvider =
  | { readonly provider: string; readonly how: 'key'; readonly variable: string }
  | { readonly provider: string; readonly how: 'server'; readonly baseUrl: string }
  /** A remote address set by the user; not probed. */
  | { readonly provider: string; readonly how: 'address'; readonly baseUrl: string; readonly variable: string }
  /** The embedded model: the fallback if nothing else is available. */
  | { readonly provider: 'embedded'; readonly how: 'embedded' };

/** Options of the discovery. */
export type DiscoverOptions = {
  readonly env?: Environment;
  /** How long servers are waited for, all together; default 3 s. A port without a server is known at once. */
  readonly timeoutMs?: number;
  /** Called with each server as soon as it answers. */
  readonly onFound?: (found: DiscoveredProvider) => void;
  /** Ends the wait early: servers that have not answered are not listed. */
  readonly signal?: AbortSignal;
  /** Addresses to probe instead of the default ports. */
  readonly ports?: { readonly [provider: string]: readonly number[] };
};

const defaultPorts: { readonly [provider: string]: readonly number[] } = {
  ollama: [11434],
  'lm-studio': [1234],
  lemonade: [8000, 13305],
  'llama.cpp': [8080],
  vllm: [8000],
  'openai-compatible': [5000],
};

/** The time for servers to answer: a server that is busy or loads a model can take seconds. */
const defaultTimeoutMs = 3000;

/** Returns the addresses on this machine that `discover` probes. */
export const listProbedAddresses = (env: Environment = process.env): readonly string[] =>
  getAllProbeTargets(defaultPorts, env).flatMap((target) => ('url' in target ? [target.url] : []));

/** Returns usable providers: local servers, then configured remote addresses, then API keys, then the embedded model. */
export async function discover(options: DiscoverOptions = {}): Promise<readonly DiscoveredProvider[]> {
  const { env = process.env, timeoutMs = defaultTimeoutMs, ports = defaultPorts, onFound, signal } = options;
  const deadline = AbortSignal.timeout(timeoutMs);
  const stop = signal ? AbortSignal.any([signal, deadline]) : deadline;
  const keys = families.flatMap((family): readonly DiscoveredProvider[] => {
    const key = family.local ? undefined : findApiKey(family, env);
    return key ? [{ provider: family.name, how: 'key', variable: key.name }] : [];
  });
  const answers = await Promise.all(
    getAllProbeTargets(ports, env).map(async (target) => {
      const found = 'url' in target ? await probeServer(target, stop) : target.known;
      if (found?.how === 'server') onFound?.(found);
      return found;
    }),
  );
  const found = answers.filter((each) => each !== undefined);
  const servers = found.filter(({ how }) => how === 'server');
  const addresses = found.filter(({ how }) => how !== 'server');
  return [...servers, ...addresses, ...keys, { provider: 'embedded', how: 'embedded' }];
}

const getAllProbeTargets = (
  ports: { readonly [provider: string]: readonly number[] },
  env: Environment,
): readonly ProbeTarget[] =>
  Object.entries(ports).flatMap(([provider, numbers]) => {
    const family = findFamily(provider);
    return family ? getProbeTargets(family, numbers, env) : [];
  });

type ProbeTarget = { readonly family: ProviderFamily; readonly url: string } | { readonly known: DiscoveredProvider };

/** An address set by the user replaces the default ones. */
function getProbeTargets(family: ProviderFamily, ports: readonly number[], env: Environment): readonly ProbeTarget[] {
  const variable = family.urlVariables.find((name) => env[name]?.trim());
  if (variable === undefined)
    return ports.map((port) => ({ family, url: `http://localhost:${port}${family.defaultPath}` }));
  const baseUrl = resolveBaseUrl(family, undefined, env);
  return isLoopbackUrl(baseUrl)
    ? [{ family, url: baseUrl }]
    : [{ known: { provider: family.name, how: 'address', baseUrl, variable } }];
}

async function probeServer(
  { family, url }: { readonly family: ProviderFamily; readonly url: string },
  signal: AbortSignal,
): Promise<DiscoveredProvider | undefined> {
  const here = await (serverProbes[family.name] ?? probeModelList)(url, signal);
  return here ? { provider: family.name, how: 'server', baseUrl: url } : undefined;
}

type ServerProbe = (url: string, signal: AbortSignal) => Promise<boolean>;

const originOf = (url: string): string => URL.parse(url)?.origin ?? url;

const probeModelList: ServerProbe = async (url, signal) =>
  objectsAt(await fetchLocalJson(`${url}/models`, signal), 'data').length > 0;

/** How to identify each server on a shared port. */
const serverProbes: { readonly [provider: string]: ServerProbe } = {
  ollama: async (url, signal) => hasKey(await fetchLocalJson(`${url}/api/version`, signal), 'version'),
  lemonade: async (url, signal) =>
    objectsAt(await fetchLocalJson(`${url}/models`, signal), 'data').some(
      (row) => row['owned_by'] === 'lemonade' || 'recipe' in row,
    ),
  'llama.cpp': async (url, signal) =>
    hasKey(await fetchLocalJson(`${originOf(url)}/props`, signal), 'default_generation_settings'),
  vllm: async (url, signal) =>
    objectsAt(await fetchLocalJson(`${url}/models`, signal), 'data').some((row) => row['owned_by'] === 'vllm'),
};

const hasKey = (value: unknown, key: string): boolean => isObject(value) && key in value;

const maxResponseBytes = 4 * 2 ** 20;

/** Fetches JSON from a loopback address; undefined on any error. Ignores proxies from the environment: they are not on this machine. */
function fetchLocalJson(url: string, signal: AbortSignal): Promise<unknown> {
  const { promise, resolve } = Promise.withResolvers<unknown>();
  const nothing = (): void => resolve(undefined);
  // Not an import statement, which would load all of fetch.
  const http = process.getBuiltinModule('node:http');
  if (signal.aborted) return Promise.resolve(undefined);
  const request = http.get(url, { agent: new http.Agent(), signal, headers: { accept: 'application/json' } });
  request.once('error', nothing);
  request.once('response', (reply) => {
    const pieces: Buffer[] = [];
    let size = 0;
    reply.on('data', (piece: Buffer) => {
      pieces.push(piece);
      size += piece.length;
      if (size > maxResponseBytes) request.destroy();
    });
    reply.once('error', nothing).once('close', nothing);
    reply.once('end', () => {
      try {
        resolve(reply.statusCode === 200 ? JSON.parse(Buffer.concat(pieces).toString()) : undefined);
      } catch {
        nothing();
      }
    });
  });
  return promise;
}
