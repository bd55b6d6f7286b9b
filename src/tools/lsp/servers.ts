// The language servers of a session: each started on first use for a root, kept, started again a few times after a crash, and ended with the session.
import { existsSync } from 'node:fs';
import path from 'node:path';
import { escapeInvisibleLine, isPathInside, type Workspace } from '../../core/index.ts';
import {
  builtInServers,
  findServerDefinition,
  mergeServerDefinitions,
  type LanguageServerDefinition,
} from './definition.ts';
import type { ServerStartOptions } from './connection.ts';
import {
  hasServerConsent,
  type RequestServerApproval,
  type IsServerApproved,
  type BinaryContext,
} from './resolve-binary.ts';
import { lspError } from './rpc.ts';
import { createServerLifecycle, type LanguageServer, type ServerLifecycle } from './server-lifecycle.ts';

/** How language servers are found and started. */
export type LanguageServerOptions = {
  /** Servers from configuration; each comes before the known ones for the files it is for, and replaces one of its name. */
  readonly servers?: readonly LanguageServerDefinition[];
  /** The servers that are known without configuration; none where this is empty. */
  readonly builtIn?: readonly LanguageServerDefinition[];
  /** Whether a program or a definition that comes with the folder was approved; nothing was, unless this says so. */
  readonly requestApproval?: RequestServerApproval;
  /** Whether it was approved before, without asking anybody; nothing was, unless this says so. */
  readonly isApproved?: IsServerApproved;
  /** Where harmless variables and the search path are taken from; our own environment unless given. */
  readonly environment?: NodeJS.ProcessEnv;
  readonly confine?: ServerStartOptions['confine'];
  /** Milliseconds a server has to start, and again for its first answer; 45,000 unless given. */
  readonly startTimeoutMs?: number;
  /** Milliseconds it has for every other answer, 20,000 unless given. */
  readonly requestTimeoutMs?: number;
};

/** The language servers of a session. */
export type LanguageServers = {
  /** Whether there is a server for files with this name, running or not. */
  supports(path: string): boolean;
  /** The server for a file, up to date with the workspace; started where there is none. Throws a sentence where there is none to be had. */
  open(path: string, signal: AbortSignal): Promise<LanguageServer>;
  /** The server for a file if one is running, or if a person said yes to it before; nobody is asked. */
  getIfReady(path: string, signal: AbortSignal): Promise<LanguageServer | undefined>;
  /** Ends them all. */
  close(): Promise<void>;
};

/** The server that is for a file, and the root that it is for. */
type ServerForFile = { readonly definition: LanguageServerDefinition; readonly root: string; readonly key: string };

const maxServers = 6;

/** The language servers for a workspace, none of them started yet. */
export function languageServers(workspace: Workspace, options: LanguageServerOptions = {}): LanguageServers {
  const { servers = [], builtIn = builtInServers, requestApproval = () => false, environment = process.env } = options;
  const { isApproved = () => false } = options;
  const definitions = mergeServerDefinitions(servers, builtIn);
  const slots = new Map<string, ServerLifecycle>();
  let leaving: Promise<unknown> = Promise.resolve();
  let closed = false;

  /** What was said yes to, by server and root: to find out takes reading a program. */
  const consents = new Map<string, Promise<boolean>>();

  async function find(given: string): Promise<ServerForFile | undefined> {
    const definition = findServerDefinition(given, definitions);
    if (!definition) return undefined;
    const root = await findProjectRoot(workspace, workspace.locate(given), definition);
    return { definition, root, key: JSON.stringify([definition.name, root]) };
  }

  const placeOf = (root: string): BinaryContext => ({
    root,
    folder: findRepositoryRoot(isPathInside(workspace.cwd, root) ? workspace.cwd : root),
    environment,
    isApproved,
    requestApproval,
  });

  function slotAt({ key, definition, root }: ServerForFile): ServerLifecycle {
    const slot =
      slots.get(key) ??
      createServerLifecycle({
        workspace,
        definition,
        ...placeOf(root),
        ...(options.confine ? { confine: options.confine } : {}),
        startTimeoutMs: options.startTimeoutMs ?? 45_000,
        requestTimeoutMs: options.requestTimeoutMs ?? 20_000,
      });
    // The one that was used last stands last.
    slots.delete(key);
    slots.set(key, slot);
    const [oldest] = slots;
    if (slots.size > maxServers && oldest) {
      slots.delete(oldest[0]);
      leaving = Promise.all([leaving, oldest[1].close()]);
    }
    return slot;
  }

  return {
    supports: (given) => findServerDefinition(given, definitions) !== undefined,
    async open(given, signal) {
      const found = await find(given);
      if (closed) throw lspError('lsp/closed', 'The language servers of this session have ended.');
      if (!found)
        throw lspError(
          'lsp/no-server',
          `No language server is known for ${escapeInvisibleLine(path.basename(given))}.`,
          'Name one in the configuration.',
        );
      // A person may say yes to it now.
      consents.delete(found.key);
      return slotAt(found).acquire(signal);
    },
    async getIfReady(given, signal) {
      const found = await find(given);
      if (!found || closed) return undefined;
      const current = slots.get(found.key)?.current();
      if (current) return current;
      const consent =
        consents.get(found.key) ?? hasServerConsent(found.definition, placeOf(found.root)).catch(() => false);
      consents.set(found.key, consent);
      return (await consent) ? slotAt(found).acquire(signal) : undefined;
    },
    async close() {
      closed = true;
      await Promise.all([leaving, ...Array.from(slots.values(), (slot) => slot.close())]);
    },
  };
}

/** The nearest folder above a file that holds the surest marker there is; the working folder otherwise. */
async function findProjectRoot(
  workspace: Workspace,
  file: string,
  { rootMarkers }: LanguageServerDefinition,
): Promise<string> {
  if (rootMarkers.length === 0 && isPathInside(workspace.cwd, file)) return workspace.cwd;
  const above: { readonly folder: string; readonly names: ReadonlySet<string> }[] = [];
  let folder = path.dirname(file);
  for (let up = ''; up !== folder; [up, folder] = [folder, path.dirname(folder)]) {
    // Above the roots of the workspace nothing can be listed; below them a folder may not be there yet.
    const listed = await workspace.list(folder).catch(() => undefined);
    if (listed) above.push({ folder, names: new Set(listed.entries.map(({ name }) => name)) });
    else if (above.length > 0) break;
  }
  for (const marker of rootMarkers) {
    const found = above.find(({ names }) => names.has(marker));
    if (found) return found.folder;
  }
  return isPathInside(workspace.cwd, file) ? workspace.cwd : (above.at(-1)?.folder ?? workspace.cwd);
}

/** The repository that a folder is part of, or the folder: a stranger's repository does not end where somebody opened it. */
function findRepositoryRoot(folder: string): string {
  for (let at = folder; ; at = path.dirname(at)) {
    if (existsSync(path.join(at, '.git'))) return at;
    if (at === path.dirname(at)) return folder;
  }
}
