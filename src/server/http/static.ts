// Serves the built dashboard: files of one directory by plain names only.
import { readFile, realpath, stat } from 'node:fs/promises';
import path from 'node:path';
import { createHttpError } from './errors.ts';
import type { RouteResponse } from './route.ts';

const contentTypes: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.ico': 'image/x-icon',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
  '.txt': 'text/plain; charset=utf-8',
  '.webp': 'image/webp',
  '.woff2': 'font/woff2',
};

const notBuiltPage =
  '<!doctype html><title>Fairlead</title><p>The dashboard is not built: run <code>npm run build</code>. The API works; /openapi.json describes it.</p>';

/** Returns the dashboard, or a note that it is not built. The page contains no data: it fetches data with a key. */
export async function readIndexPage(folder: string | undefined): Promise<RouteResponse> {
  const found = folder === undefined ? undefined : await readFileWithin(folder, 'index.html');
  return {
    content: found ?? notBuiltPage,
    type: contentTypes['.html'] ?? '',
    headers: { 'cache-control': 'no-cache' },
  };
}

/** Returns an asset. Its name changes with its content, so browsers may cache it. */
export async function readAsset(folder: string | undefined, name: string): Promise<RouteResponse> {
  const type = contentTypes[path.extname(name)];
  const isPlain = /^[\w-][\w.-]*$/.test(name) && type !== undefined;
  const content = folder !== undefined && isPlain ? await readFileWithin(path.join(folder, 'assets'), name) : undefined;
  if (content === undefined || type === undefined) throw createHttpError('server/not-found', 'File not found.');
  return { content, type, headers: { 'cache-control': 'public, max-age=31536000, immutable' } };
}

/** Reads a file directly in a directory; undefined if the path leads out of it by a link. */
async function readFileWithin(folder: string, name: string): Promise<Uint8Array<ArrayBuffer> | undefined> {
  try {
    const [real, base] = await Promise.all([realpath(path.join(folder, name)), realpath(folder)]);
    if (path.dirname(real) !== base || !(await stat(real)).isFile()) return undefined;
    return new Uint8Array(await readFile(real));
  } catch {
    return undefined;
  }
}
