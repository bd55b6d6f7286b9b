// The language servers of a session: each started on first use for a root, kept, started again a few times after a crash, and ended with the session.
import { existsSync } from 'node:fs';
import path from 'node:path';
import { escapeInvisibleLine, type Workspace } from '../../core/index.ts';
import { isInside } from './child.ts';
import { builtInServers, definitionFor, withOwn, type ServerDefinition } from './definition.ts';
import type { Start } from './live.ts';
import { isConsented, type Allowed, type Approved, type Place } from './program.ts';
import { fault } from './rpc.ts';
import { slotFor, type LanguageServer, type Slot } from './slot.ts';

/** How language servers are found and started. */
export type LanguageServerOptions = {
  /** Servers from configuration; each comes before the known ones for the files it is for, and replaces one of its name. */
  readonly servers?: readonly ServerDefinition[];
  /** The servers that are known without configuration; none where this is empty. */
  readonly known?: readonly ServerDefinition[];
  /** Whether a program or a definition that comes with the folder was approved; nothing was, unless this says so. */
  readonly allowed?: Allowed;
  /** Whether it was approved before, without asking anybody; nothing was, unless this says so. */
  readonly approved?: Approved;
  /** Where harmless variables and the search path are taken from; our own environment unless given. */
  readonly environment?: NodeJS.ProcessEnv;
  readonly confine?: Start['confine'];
  /** Milliseconds a server has to start, and again for its first answer; 45,000 unless given. */
  readonly startMs?: number;
  /** Milliseconds it has for every other answer, 20,000 unless given. */
  readonly answerMs?: number;
};

/** The language servers of a session. */
export type LanguageServers = {
  /** Whether there is a server for files with this name, running or not. */
  knows(path: string): boolean;
  /** The server for a file, up to date with the workspace; started where there is none. Throws a sentence where there is none to be had. */
  open(path: string, signal: AbortSignal): Promise<LanguageServer>;
  /** The server for a file if one is running, or if a person said yes to it before; nobody is asked. */
  ready(path: string, signal: AbortSignal): Promise<LanguageServer | undefined>;
  /** Ends them all. */
  close(): Promise<void>;
};

/** The server that is for a file, and the root that it is for. */
type Found = { readonly definition: ServerDefinition; readonly root: string; readonly key: string };

const mostServers = 6;

/** The language servers for a workspace, none of them started yet. */
export function languageServers(workspace: Workspace, options: LanguageServerOptions = {}): LanguageServers {
  const { servers = [], known = builtInServers, allowed = () => false, environment = process.env } = options;
  const { approved = () => false } = options;
  const definitions = withOwn(servers, known);
  const slots = new Map<string, Slot>();
  let leaving: Promise<unknown> = Promise.resolve();
  let closed = false;

  /** What was said yes to, by server and root: to find out takes reading a program. */
  const consents = new Map<string, Promise<boolean>>();

  async function find(given: string): Promise<Found | undefined> {
    const definition = definitionFor(given, definitions);
    if (!definition) return undefined;
    const root = await rootOf(workspace, workspace.locate(given), definition);
    return { definition, root, key: JSON.stringify([definition.name, root]) };
  }

  const placeOf = (root: string): Place => ({
    root,
    folder: repositoryOf(isInside(workspace.cwd, root) ? workspace.cwd : root),
    environment,
    approved,
    allowed,
  });

  function slotAt({ key, definition, root }: Found): Slot {
    const slot =
      slots.get(key) ??
      slotFor({
        workspace,
        definition,
        ...placeOf(root),
        ...(options.confine ? { confine: options.confine } : {}),
        startMs: options.startMs ?? 45_000,
        answerMs: options.answerMs ?? 20_000,
      });
    // The one that was used last stands last.
    slots.delete(key);
    slots.set(key, slot);
    const [oldest] = slots;
    if (slots.size > mostServers && oldest) {
      slots.delete(oldest[0]);
      leaving = Promise.all([leaving, oldest[1].close()]);
    }
    return slot;
  }

  return {
    knows: (given) => definitionFor(given, definitions) !== undefined,
    async open(given, signal) {
      const found = await find(given);
      if (closed) throw fault('lsp/closed', 'The language servers of this session have ended.');
      if (!found)
        throw fault(
          'lsp/no-server',
          `No language server is known for ${escapeInvisibleLine(path.basename(given))}.`,
          'Name one in the configuration.',
        );
      // A person may say yes to it now.
      consents.delete(found.key);
      return slotAt(found).server(signal);
    },
    async ready(given, signal) {
      const found = await find(given);
      if (!found || closed) return undefined;
      const current = slots.get(found.key)?.current();
      if (current) return current;
      const consent = consents.get(found.key) ?? isConsented(found.definition, placeOf(found.root)).catch(() => false);
      consents.set(found.key, consent);
      return (await consent) ? slotAt(found).server(signal) : undefined;
    },
    async close() {
      closed = true;
      await Promise.all([leaving, ...Array.from(slots.values(), (slot) => slot.close())]);
    },
  };
}

/** The nearest folder above a file that holds the surest marker there is; the working folder otherwise. */
async function rootOf(workspace: Workspace, file: string, { rootMarkers }: ServerDefinition): Promise<string> {
  if (rootMarkers.length === 0 && isInside(workspace.cwd, file)) return workspace.cwd;
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
  return isInside(workspace.cwd, file) ? workspace.cwd : (above.at(-1)?.folder ?? workspace.cwd);
}

/** The repository that a folder is part of, or the folder: a stranger's repository does not end where somebody opened it. */
function repositoryOf(folder: string): string {
  for (let at = folder; ; at = path.dirname(at)) {
    if (existsSync(path.join(at, '.git'))) return at;
    if (at === path.dirname(at)) return folder;
  }
}
