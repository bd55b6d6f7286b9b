// The place of one server for one root: empty, starting or running; a server that keeps failing is not started without end.
import { FairleadError, errorMessage, raceAbort, type Json, type Workspace } from '../../core/index.ts';
import { diskBelow } from './disk.ts';
import { documentsOf, type Document, type Documents } from './documents.ts';
import { startServer, type Live, type Start } from './live.ts';
import { programFor, type Allowed, type Approved } from './program.ts';
import { fault } from './rpc.ts';

/** A running server with its documents. */
export type LanguageServer = {
  readonly live: Live;
  /** Shows a document as it is now, and brings all that the server knows up to date. */
  show(path: string, signal: AbortSignal): Promise<Document>;
  /** The documents that it was shown, the latest first. */
  shown(): readonly Document[];
  request(method: string, params: Json, signal: AbortSignal): Promise<unknown>;
};

/** The place of a server. */
export type Slot = {
  server(signal: AbortSignal): Promise<LanguageServer>;
  current(): LanguageServer | undefined;
  close(): Promise<void>;
};

/** What is needed to fill the place. */
export type SlotOptions = Pick<Start, 'definition' | 'root' | 'folder' | 'environment' | 'confine'> & {
  readonly workspace: Workspace;
  readonly approved: Approved;
  readonly allowed: Allowed;
  readonly startMs: number;
  readonly answerMs: number;
};

const firstRest = 500;
const longestRest = 30_000;
/** Starts in one session: a server that crashes at every question is not asked for ever. */
const mostStarts = 12;
/** A server that leaves this many questions in a row unanswered is ended. */
const mostSilent = 2;

/** An empty place. */
export function slotFor(options: SlotOptions): Slot {
  const { definition, startMs } = options;
  const { name } = definition;
  let server: LanguageServer | undefined;
  let opening: Opening | undefined;
  let starts = 0;
  let failures = 0;
  let notBefore = 0;
  let lastFault = '';
  let leaving: Promise<unknown> = Promise.resolve();
  const ending = new AbortController();

  const marks: Marks = {
    worked() {
      failures = 0;
      notBefore = 0;
    },
    failed(error) {
      lastFault = errorMessage(error);
    },
    useless(gone) {
      if (server?.live === gone) server = undefined;
      leaving = Promise.all([leaving, gone.close()]);
    },
  };

  async function open(unwanted: AbortSignal): Promise<LanguageServer> {
    const rest = Math.ceil((notBefore - Date.now()) / 1000);
    if (rest > 0) throw fault('lsp/resting', `${lastFault} It is started again in ${rest} s at the earliest.`);
    if (starts >= mostStarts)
      throw fault(
        'lsp/given-up',
        `The language server ${name} was started ${starts} times and is given up. ${lastFault}`,
      );
    const program = await raceAbort(ending.signal, () =>
      programFor(definition, options, AbortSignal.any([ending.signal, unwanted])),
    );
    starts++;
    failures++;
    notBefore = Date.now() + (failures < 2 ? 0 : Math.min(firstRest * 2 ** (failures - 2), longestRest));
    try {
      const live = await startServer({ ...options, program }, { signal: ending.signal, timeoutMs: startMs });
      return (server = serverOf(live, options, marks));
    } catch (error) {
      marks.failed(error);
      throw error;
    }
  }

  function begin(): Opening {
    const unwanted = new AbortController();
    const attempt = open(unwanted.signal).finally(() => (opening = undefined));
    // It may fail when nobody waits for it any more.
    attempt.catch(() => {});
    return { attempt, unwanted, waiting: 0 };
  }

  return {
    async server(signal) {
      if (ending.signal.aborted) throw fault('lsp/closed', `The language server ${name} has ended with its session.`);
      if (server?.live.running()) return server;
      const now = (opening ??= begin());
      now.waiting++;
      const leave = (): void => {
        if (--now.waiting === 0) now.unwanted.abort();
      };
      if (signal.aborted) leave();
      else signal.addEventListener('abort', leave, { once: true });
      try {
        return await raceAbort(signal, () => now.attempt);
      } finally {
        signal.removeEventListener('abort', leave);
      }
    },
    current: () => (server?.live.running() ? server : undefined),
    async close() {
      ending.abort();
      await Promise.all([leaving, opening?.attempt.catch(() => {}), server?.live.close()]);
    },
  };
}

/** A server that is being started for those who wait. Where all of them have left, nobody is asked about it any more. */
type Opening = { readonly attempt: Promise<LanguageServer>; readonly unwanted: AbortController; waiting: number };

/** What is learnt of a server by asking it. */
type Marks = { worked(): void; failed(error: unknown): void; useless(live: Live): void };

function serverOf(live: Live, options: SlotOptions, marks: Marks): LanguageServer {
  const { workspace, definition, root, startMs, answerMs } = options;
  const documents: Documents = documentsOf(live, workspace, definition);
  const disk = diskBelow(workspace, root, definition);
  let silent = 0;
  /** The first question has to wait until the whole project is read. */
  let patience = Math.max(startMs, answerMs);
  let showing: Promise<unknown> = Promise.resolve();
  return {
    live,
    show(given, signal) {
      // One after the other: of two readings at once the older could be told last.
      const shown = showing.then(async () => {
        const changes = await disk(signal);
        if (changes.length > 0) live.notify('workspace/didChangeWatchedFiles', { changes });
        await documents.refresh();
        return documents.show(given);
      });
      showing = shown.catch(() => {});
      return raceAbort(signal, () => shown);
    },
    shown: () => documents.open(),
    async request(method, params, signal) {
      try {
        const answer = await live.request(method, params, { signal, timeoutMs: patience });
        silent = 0;
        patience = answerMs;
        marks.worked();
        return answer;
      } catch (error) {
        if (error instanceof FairleadError && error.code.startsWith('lsp/')) marks.failed(error);
        if (error instanceof FairleadError && error.code === 'lsp/silent' && ++silent >= mostSilent)
          marks.useless(live);
        throw error;
      }
    },
  };
}
