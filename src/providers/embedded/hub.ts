// Reads the metadata of a model repository on the Hugging Face hub or on a mirror of it: files, sizes, hashes and licence. The token is sent to the hub itself only.
import { FairleadError, isLoopbackUrl, isObject, trimEndChars, type JsonObject } from '../../core/index.ts';
import { toTransferError } from './errors.ts';
import { formatHubAddress, type HubAddress } from './hub-address.ts';

type Environment = { readonly [name: string]: string | undefined };

/** A model file on the hub, as its metadata describes it. */
export type HubFile = {
  readonly repo: string;
  readonly path: string;
  /** The URL of the file at the commit that the metadata is of. */
  readonly url: string;
  readonly bytes: number;
  readonly sha256: string;
  readonly license: string;
  /** The chat template and the context length, if the hub states them. */
  readonly chatTemplate?: string;
  readonly contextLength?: number;
};

/** The options of a request to the hub. */
export type HubOptions = {
  readonly env: Environment;
  readonly signal?: AbortSignal | undefined;
  /** Milliseconds until a request without an answer fails. */
  readonly timeoutMs?: number;
};

const defaultTimeoutMs = 20_000;

/** Returns the URL of the hub: `HF_ENDPOINT`, or that of Hugging Face. */
export function getHubEndpoint(env: Environment): URL {
  const value = env['HF_ENDPOINT']?.trim() || 'https://huggingface.co';
  const url = URL.parse(`${trimEndChars(value, '/')}/`);
  if (url && /^https?:$/.test(url.protocol) && url.username === '' && url.password === '') return url;
  throw new FairleadError('embedded/bad-address', 'HF_ENDPOINT is not an http or https URL without a user name.', {
    blame: 'user',
    hint: 'Set it to the URL of a mirror, such as https://huggingface.co, or unset it.',
  });
}

/** Returns the header with the token for a URL of the hub itself; no header for another host, and none without encryption beyond this machine. */
export function authorizeHubUrl(url: string, env: Environment): { readonly authorization?: string } {
  const token = env['HF_TOKEN']?.trim();
  const isSafe = url.startsWith('https:') || isLoopbackUrl(url);
  if (!token || !isSafe || URL.parse(url)?.origin !== getHubEndpoint(env).origin) return {};
  return { authorization: `Bearer ${token}` };
}

/** Reads the metadata of a repository and selects the file of the address. */
export async function fetchHubFile(address: HubAddress, options: HubOptions): Promise<HubFile> {
  const { repo, revision } = address;
  const endpoint = getHubEndpoint(options.env);
  const info = await fetchJson(
    new URL(`api/models/${repo}/revision/${encodeURIComponent(revision)}?blobs=true`, endpoint),
    repo,
    options,
  );
  const { path, bytes, sha256 } = selectFile(address, listModelFiles(info));
  const commit = typeof info['sha'] === 'string' && /^[\da-f]{40}$/.test(info['sha']) ? info['sha'] : revision;
  const card = isObject(info['cardData']) ? info['cardData'] : {};
  const gguf = isObject(info['gguf']) ? info['gguf'] : {};
  const encoded = path.split('/').map(encodeURIComponent).join('/');
  return {
    repo,
    path,
    url: new URL(`${repo}/resolve/${encodeURIComponent(commit)}/${encoded}`, endpoint).href,
    bytes,
    sha256,
    license: findLicense(card, info['tags']),
    ...(typeof gguf['chat_template'] === 'string' ? { chatTemplate: gguf['chat_template'] } : {}),
    ...(typeof gguf['context_length'] === 'number' ? { contextLength: gguf['context_length'] } : {}),
  };
}

const maxMetadataBytes = 8e6;

async function fetchJson(
  url: URL,
  repo: string,
  { env, signal, timeoutMs = defaultTimeoutMs }: HubOptions,
): Promise<JsonObject> {
  const what = `the list of files of ${repo}`;
  try {
    const stop = AbortSignal.any([AbortSignal.timeout(timeoutMs), ...(signal ? [signal] : [])]);
    const reply = await fetch(url, {
      headers: { accept: 'application/json', ...authorizeHubUrl(url.href, env) },
      signal: stop,
    });
    if (!reply.ok) {
      await reply.body?.cancel();
      throw hubStatusError(reply.status, repo, env);
    }
    const value: unknown = JSON.parse(await readMetadata(reply));
    if (isObject(value)) return value as JsonObject;
    throw new SyntaxError('no object');
  } catch (error) {
    if (error instanceof SyntaxError)
      throw new FairleadError('embedded/unavailable', `${url.host} answers, but not as the Hugging Face hub does.`, {
        blame: 'provider',
        hint: 'Check HF_ENDPOINT, or the proxy of your network.',
        cause: error,
      });
    if (signal?.aborted) throw error;
    const failure = toTransferError(error, what);
    throw failure.code === 'embedded/cut' ? hubSilentError(url.host, error) : failure;
  }
}

/** Reads a body of bounded size: a server that is not the hub may never stop sending. Leaving the loop cancels the body. */
async function readMetadata(reply: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of reply.body ?? []) {
    bytes += chunk.length;
    if (bytes > maxMetadataBytes) throw new SyntaxError('the list of files is too long');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

const hubSilentError = (host: string, cause: unknown): FairleadError =>
  new FairleadError('embedded/offline', `${host} did not answer.`, {
    blame: 'provider',
    retry: true,
    hint: 'Try again, or set HF_ENDPOINT to a mirror of the Hugging Face hub.',
    cause,
  });

/** Creates the error for a status of the hub. */
export function hubStatusError(status: number, repo: string, env: Environment): FairleadError {
  const { host } = getHubEndpoint(env);
  const hasToken = Boolean(env['HF_TOKEN']?.trim());
  if (status === 401 || status === 403)
    return new FairleadError(
      'embedded/refused',
      hasToken
        ? `${host} does not give ${repo} to this token (HTTP ${status}).`
        : `${host} has no public repository ${repo}: the name is wrong, or it needs a login (HTTP ${status}).`,
      {
        blame: 'user',
        hint: hasToken
          ? `Accept its terms at ${new URL(repo, getHubEndpoint(env)).href}, or use a token that may read it.`
          : `Check the name. If you have to accept its terms at ${new URL(repo, getHubEndpoint(env)).href}, do so and set HF_TOKEN.`,
      },
    );
  if (status === 404)
    return new FairleadError('embedded/not-found', `${host} has no repository ${repo} (HTTP 404).`, {
      blame: 'user',
      hint: 'Check the owner, the name and the branch.',
    });
  return new FairleadError('embedded/unavailable', `${host} did not answer properly about ${repo} (HTTP ${status}).`, {
    blame: 'provider',
    retry: status >= 500 || status === 429,
    hint: 'Try again later.',
  });
}

type ListedFile = { readonly path: string; readonly bytes: number; readonly sha256: string };

/** The model files of a repository; a file without a hash is not a weights file. */
function listModelFiles(info: JsonObject): readonly ListedFile[] {
  const siblings = Array.isArray(info['siblings']) ? info['siblings'] : [];
  return siblings.flatMap((each): readonly ListedFile[] => {
    if (!isObject(each) || typeof each['rfilename'] !== 'string') return [];
    const lfs = isObject(each['lfs']) ? each['lfs'] : {};
    const [bytes, sha256] = [lfs['size'] ?? each['size'], lfs['sha256'] ?? lfs['oid']];
    if (typeof bytes !== 'number' || bytes <= 0 || typeof sha256 !== 'string' || !/^[\da-f]{64}$/.test(sha256))
      return [];
    const isModel = /\.gguf$/i.test(each['rfilename']) && !/mmproj/i.test(each['rfilename']);
    return isModel ? [{ path: each['rfilename'], bytes, sha256 }] : [];
  });
}

/** The quantizations that are taken if none is named, best first: those of the runtime, and what is common in small repositories. */
const preferredQuants = ['Q4_K_M', 'Q4_0', 'Q5_K_M', 'Q8_0'];
const splitFile = /-\d{5}-of-\d{5}\.gguf$/i;

function selectFile(address: HubAddress, files: readonly ListedFile[]): ListedFile {
  const { repo, file, quant } = address;
  const hasQuant = (path: string, wanted: string): boolean =>
    path
      .slice(path.lastIndexOf('/') + 1)
      .toLowerCase()
      .replace(splitFile, '.gguf')
      .match(`(?:^|[-._])${wanted.toLowerCase().replaceAll('.', String.raw`\.`)}\\.gguf$`) !== null;
  const [found] =
    file !== undefined
      ? files.filter(({ path }) => path === file)
      : quant !== undefined
        ? files.filter(({ path }) => hasQuant(path, quant))
        : [
            ...preferredQuants.flatMap((each) => files.filter(({ path }) => hasQuant(path, each))),
            ...(files.length === 1 ? files : []),
          ];
  if (!found) throw noSuchFileError(address, files);
  if (splitFile.test(found.path))
    throw new FairleadError(
      'embedded/unsupported',
      `${found.path} of ${repo} is one part of a split model file, which is not supported.`,
      {
        blame: 'user',
        hint: 'Choose a smaller quantization that is one file.',
      },
    );
  return found;
}

function noSuchFileError(address: HubAddress, files: readonly ListedFile[]): FairleadError {
  const { repo } = address;
  const names = files.filter(({ path }) => !splitFile.test(path)).map(({ path }) => path);
  return new FairleadError(
    'embedded/not-found',
    files.length === 0
      ? `${repo} has no GGUF file with a hash.`
      : `${repo} has no model file for ${formatHubAddress(address)}.`,
    {
      blame: 'user',
      hint:
        names.length === 0
          ? 'Look for a repository whose name ends in GGUF.'
          : `Its files: ${names.slice(0, 12).join(', ')}${names.length > 12 ? ', …' : ''}.`,
    },
  );
}

/** The licence of the model card, or of the tags. */
function findLicense(card: JsonObject, tags: unknown): string {
  const [id, name] = [card['license'], card['license_name']];
  if (id === 'other' && typeof name === 'string') return cleanText(name);
  if (typeof id === 'string') return cleanText(id);
  const tag = Array.isArray(tags)
    ? tags.find((each) => typeof each === 'string' && each.startsWith('license:'))
    : undefined;
  return typeof tag === 'string' ? cleanText(tag.slice('license:'.length)) : 'not stated';
}

/** The text of a stranger, for one line of a terminal. */
const cleanText = (text: string): string => text.replaceAll(/[^\w .+()/-]/g, '').slice(0, 60) || 'not stated';
