// The lifecycle of one server for one root: not started, starting or running. Restarts are limited.
import { FairleadError, errorMessage, raceAbort, type Json, type Workspace } from '../../core/index.ts';
import { createFileChangeScanner } from './file-changes.ts';
import { createDocumentStore, type OpenDocument, type DocumentStore } from './documents.ts';
import { startLanguageServer, type LspConnection, type ServerStartOptions } from './connection.ts';
import { resolveServerBinary, type RequestServerApproval, type IsServerApproved } from './resolve-binary.ts';
import { lspError } from './rpc.ts';

/** A running server with its documents. */
export type LanguageServer = {
  readonly connection: LspConnection;
  /** Opens the current version of a document, and synchronizes everything the server knows. */
  openDocument(path: string, signal: AbortSignal): Promise<OpenDocument>;
  /** Returns the open documents, the latest first. */
  openDocuments(): readonly OpenDocument[];
  request(method: string, params: Json, signal: AbortSignal): Promise<unknown>;
};

/** The lifecycle of a server. */
export type ServerLifecycle = {
  acquire(signal: AbortSignal): Promise<LanguageServer>;
  current(): LanguageServer | undefined;
  close(): Promise<void>;
};

/** Options of createServerLifecycle. */
export type ServerLifecycleOptions = Pick<
  ServerStartOptions,
  'definition' | 'root' | 'folder' | 'environment' | 'confine'
> & {
  readonly workspace: Workspace;
  readonly isApproved: IsServerApproved;
  readonly requestApproval: RequestServerApproval;
  readonly startTimeoutMs: number;
  readonly requestTimeoutMs: number;
};

const minBackoffMs = 500;
const maxBackoffMs = 30_000;
/** Max starts per session: a server that crashes at every request is not restarted forever. */
const maxStarts = 12;
/** A server that lets this many requests in a row time out is stopped. */
const maxConsecutiveTimeouts = 2;

/** Creates the lifecycle of a server that is not started. */
export function createServerLifecycle(options: ServerLifecycleOptions): ServerLifecycle {
  const { definition, startTimeoutMs } = options;
  const { name } = definition;
  let server: LanguageServer | undefined;
  let opening: PendingStart | undefined;
  let starts = 0;
  let failures = 0;
  let notBefore = 0;
  let lastFault = '';
  let closing: Promise<unknown> = Promise.resolve();
  const closeController = new AbortController();

  const health: ServerHealth = {
    onSuccess() {
      failures = 0;
      notBefore = 0;
    },
    onFailure(error) {
      lastFault = errorMessage(error);
    },
    onUnresponsive(closedConnection) {
      if (server?.connection === closedConnection) server = undefined;
      closing = Promise.all([closing, closedConnection.close()]);
    },
  };

  async function open(unwanted: AbortSignal): Promise<LanguageServer> {
    const secondsLeft = Math.ceil((notBefore - Date.now()) / 1000);
    if (secondsLeft > 0)
      throw lspError('lsp/restart-delayed', `${lastFault} It can be started again in ${secondsLeft} s.`);
    if (starts >= maxStarts)
      throw lspError(
        'lsp/given-up',
        `The language server ${name} was started ${starts} times and will not be started again. ${lastFault}`,
      );
    const program = await raceAbort(closeController.signal, () =>
      resolveServerBinary(definition, options, AbortSignal.any([closeController.signal, unwanted])),
    );
    starts++;
    failures++;
    notBefore = Date.now() + (failures < 2 ? 0 : Math.min(minBackoffMs * 2 ** (failures - 2), maxBackoffMs));
    try {
      const live = await startLanguageServer(
        { ...options, program },
        { signal: closeController.signal, timeoutMs: startTimeoutMs },
      );
      return (server = createLanguageServer(live, options, health));
    } catch (error) {
      health.onFailure(error);
      throw error;
    }
  }

  function begin(): PendingStart {
    const unwanted = new AbortController();
    const attempt = open(unwanted.signal).finally(() => (opening = undefined));
    // It may fail when no caller waits any more.
    attempt.catch(() => {});
    return { attempt, abort: unwanted, waiters: 0 };
  }

  return {
    async acquire(signal) {
      if (closeController.signal.aborted)
        throw lspError('lsp/closed', `The language server ${name} was stopped with its session.`);
      if (server?.connection.isRunning()) return server;
      const now = (opening ??= begin());
      now.waiters++;
      const leave = (): void => {
        if (--now.waiters === 0) now.abort.abort();
      };
      if (signal.aborted) leave();
      else signal.addEventListener('abort', leave, { once: true });
      try {
        return await raceAbort(signal, () => now.attempt);
      } finally {
        signal.removeEventListener('abort', leave);
      }
    },
    current: () => (server?.connection.isRunning() ? server : undefined),
    async close() {
      closeController.abort();
      await Promise.all([closing, opening?.attempt.catch(() => {}), server?.connection.close()]);
    },
  };
}

/** A pending start and its waiting callers. If all of them leave, the approval question is cancelled. */
type PendingStart = { readonly attempt: Promise<LanguageServer>; readonly abort: AbortController; waiters: number };

/** Callbacks about the outcome of requests. */
type ServerHealth = { onSuccess(): void; onFailure(error: unknown): void; onUnresponsive(live: LspConnection): void };

function createLanguageServer(
  live: LspConnection,
  options: ServerLifecycleOptions,
  health: ServerHealth,
): LanguageServer {
  const { workspace, definition, root, startTimeoutMs, requestTimeoutMs } = options;
  const documents: DocumentStore = createDocumentStore(live, workspace, definition);
  const disk = createFileChangeScanner(workspace, root, definition);
  let silent = 0;
  /** The first request has to wait until the complete project is loaded. */
  let patience = Math.max(startTimeoutMs, requestTimeoutMs);
  let showing: Promise<unknown> = Promise.resolve();
  return {
    connection: live,
    openDocument(given, signal) {
      // Sequentially: of two parallel reads, the older one could be sent last.
      const shown = showing.then(async () => {
        const changes = await disk(signal);
        if (changes.length > 0) live.notify('workspace/didChangeWatchedFiles', { changes });
        await documents.refresh();
        return documents.sync(given);
      });
      showing = shown.catch(() => {});
      return raceAbort(signal, () => shown);
    },
    openDocuments: () => documents.open(),
    async request(method, params, signal) {
      try {
        const answer = await live.request(method, params, { signal, timeoutMs: patience });
        silent = 0;
        patience = requestTimeoutMs;
        health.onSuccess();
        return answer;
      } catch (error) {
        if (error instanceof FairleadError && error.code.startsWith('lsp/')) health.onFailure(error);
        if (error instanceof FairleadError && error.code === 'lsp/silent' && ++silent >= maxConsecutiveTimeouts)
          health.onUnresponsive(live);
        throw error;
      }
    },
  };
}
