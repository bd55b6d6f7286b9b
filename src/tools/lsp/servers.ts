// The language servers of a session: each is started on first use for a root, restarted a few times after a crash, and stopped with the session.
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
  /** Configured servers. They take precedence over the built-in ones, and replace those of the same name. */
  readonly servers?: readonly LanguageServerDefinition[];
  /** The built-in servers; an empty list disables them. */
  readonly builtIn?: readonly LanguageServerDefinition[];
  /** Asks for approval of a program or definition that comes with the folder. Default: none is approved. */
  readonly requestApproval?: RequestServerApproval;
  /** Returns true if it was approved before, without asking. Default: nothing was. */
  readonly isApproved?: IsServerApproved;
  /** The source of allowed variables and PATH. Default: our own environment. */
  readonly environment?: NodeJS.ProcessEnv;
  readonly confine?: ServerStartOptions['confine'];
  /** Milliseconds for a server to start, and again for its first response. Default 45,000. */
  readonly startTimeoutMs?: number;
  /** Milliseconds for every other response. Default 20,000. */
  readonly requestTimeoutMs?: number;
};

/** The language servers of a session. */
export type LanguageServers = {
  /** Returns true if there is a server for a file name, running or not. */
  supports(path: string): boolean;
  /** Returns the server of a file, synchronized with the workspace; starts it if needed. Throws if none is available. */
  open(path: string, signal: AbortSignal): Promise<LanguageServer>;
  /** Returns the server of a file if it is running, or if the user consented to it before. Never asks. */
  getIfReady(path: string, signal: AbortSignal): Promise<LanguageServer | undefined>;
  /** Stops all servers. */
  close(): Promise<void>;
};

/** The server of a file, and its root. */
type ServerForFile = { readonly definition: LanguageServerDefinition; readonly root: string; readonly key: string };

const maxServers = 6;

/** Creates the language servers of a workspace. None is started yet. */
export function languageServers(workspace: Workspace, options: LanguageServerOptions = {}): LanguageServers {
  const { servers = [], builtIn = builtInServers, requestApproval = () => false, environment = process.env } = options;
  const { isApproved = () => false } = options;
  const definitions = mergeServerDefinitions(servers, builtIn);
  const slots = new Map<string, ServerLifecycle>();
  let leaving: Promise<unknown> = Promise.resolve();
  let closed = false;

  /** Consents by server and root, cached because checking one reads a program. */
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
    // The latest used entry is last.
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
      if (closed) throw lspError('lsp/closed', 'The language servers of this session were stopped.');
      if (!found)
        throw lspError(
          'lsp/no-server',
          `No language server is known for ${escapeInvisibleLine(path.basename(given))}.`,
          'Configure one.',
        );
      // The user may have approved it by now.
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

/** Returns the nearest folder above a file that contains the most reliable marker; otherwise the working folder. */
async function findProjectRoot(
  workspace: Workspace,
  file: string,
  { rootMarkers }: LanguageServerDefinition,
): Promise<string> {
  if (rootMarkers.length === 0 && isPathInside(workspace.cwd, file)) return workspace.cwd;
  const parentFolders: { readonly folder: string; readonly names: ReadonlySet<string> }[] = [];
  let folder = path.dirname(file);
  for (let up = ''; up !== folder; [up, folder] = [folder, path.dirname(folder)]) {
    // Folders above the workspace roots cannot be listed; folders below may not exist yet.
    const listed = await workspace.list(folder).catch(() => undefined);
    if (listed) parentFolders.push({ folder, names: new Set(listed.entries.map(({ name }) => name)) });
    else if (parentFolders.length > 0) break;
  }
  for (const marker of rootMarkers) {
    const found = parentFolders.find(({ names }) => names.has(marker));
    if (found) return found.folder;
  }
  return isPathInside(workspace.cwd, file) ? workspace.cwd : (parentFolders.at(-1)?.folder ?? workspace.cwd);
}

/** Returns the repository that contains a folder, or the folder itself: an untrusted repository does not end at the opened folder. */
function findRepositoryRoot(folder: string): string {
  for (let at = folder; ; at = path.dirname(at)) {
    if (existsSync(path.join(at, '.git'))) return at;
    if (at === path.dirname(at)) return folder;
  }
}
