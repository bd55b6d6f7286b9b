// Builds the page: into dist/web for the package, and into web/dist for a server that runs from the sources.
import { existsSync, globSync, renameSync, rmSync, statSync } from 'node:fs';
import path from 'node:path';
import { build } from 'vite';

const webDir = import.meta.dirname;

/** The page as the sources' own server finds it. */
const builtWebDir = path.join(webDir, 'dist');

/** Builds the page into a folder, in place of what is there; gives the ids of the modules that went into it. */
export async function buildWeb(folder: string = builtWebDir): Promise<readonly string[]> {
  // Built beside the old one and swapped in at the end: a server may be reading it, and two may build at once.
  const fresh = `${folder}-${process.pid}`;
  const modules = await buildWebInto(fresh);
  try {
    rmSync(folder, { recursive: true, force: true });
    renameSync(fresh, folder);
  } catch (error) {
    rmSync(fresh, { recursive: true, force: true });
    // The process that was faster built the same files.
    if (!existsSync(path.join(folder, 'index.html'))) throw error;
  }
  return modules;
}

async function buildWebInto(folder: string): Promise<readonly string[]> {
  const built = await build({
    root: webDir,
    configFile: false,
    // The page uses relative URLs, so it works under any path of a server.
    base: './',
    logLevel: 'error',
    oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
    build: {
      outDir: folder,
      emptyOutDir: true,
      target: 'es2023',
      // The page's policy allows no inline script, and a picture of ours is a file.
      modulePreload: { polyfill: false },
      assetsInlineLimit: 0,
      reportCompressedSize: false,
    },
  });
  const outputs = Array.isArray(built) ? built : 'output' in built ? [built] : [];
  return outputs.flatMap(({ output }) => output.flatMap((each) => (each.type === 'chunk' ? each.moduleIds : [])));
}

/** Whether the built page is missing, or older than a file that it is made of. */
export function isWebStale(folder: string = builtWebDir): boolean {
  const page = path.join(folder, 'index.html');
  if (!existsSync(page)) return true;
  const built = statSync(page).mtimeMs;
  const sources = globSync(['index.html', 'build.ts', 'package.json', 'src/**/*'], { cwd: webDir });
  return sources.some((file) => statSync(path.join(webDir, file)).mtimeMs > built);
}

if (import.meta.main && (isWebStale() || process.argv.includes('--again'))) await buildWeb();
