// Lists the sessions of the store and, for the owner of the server, those of the terminal: one list, last changed first, with title, folder and the status of the last run.
import { setImmediate } from 'node:timers/promises';
import { z } from 'zod';
import type { FleetRun, RunStatus, SessionInfo } from '../../core/index.ts';
import type { TerminalSession } from '../../sessions/index.ts';
import type { ServerContext } from './context.ts';
import { maxItemsSchema, nameSchema } from './schemas.ts';

/** Where the sessions of a list come from. */
export type SessionSource = 'server' | 'terminal';

/** A session in the list. */
export type SessionEntry = SessionInfo & {
  readonly source: SessionSource;
  readonly title?: string;
  readonly folder?: string;
  readonly model?: string;
  /** The status of its last run, and why that ended. */
  readonly status?: RunStatus;
  readonly reason?: string;
};

/** The query of the list. */
export const sessionListQuery: z.ZodObject<{
  before: z.ZodOptional<z.ZodString>;
  beforeTerminal: z.ZodOptional<z.ZodString>;
  limit: typeof maxItemsSchema;
  source: z.ZodOptional<z.ZodEnum<{ server: 'server'; terminal: 'terminal'; all: 'all' }>>;
  q: z.ZodOptional<z.ZodString>;
  folder: z.ZodOptional<z.ZodString>;
}> = z.strictObject({
  before: nameSchema.optional(),
  beforeTerminal: nameSchema.optional(),
  limit: maxItemsSchema,
  source: z.enum(['server', 'terminal', 'all']).optional(),
  q: z.string().max(200).optional(),
  folder: z.string().max(4096).optional(),
});

type SessionListQuery = z.infer<typeof sessionListQuery>;

/** The list, and where the next page of it begins. */
export type SessionList = {
  readonly sessions: readonly SessionEntry[];
  readonly next?: { readonly before?: string; readonly beforeTerminal?: string };
};

/** Sessions that a search reads from the store at once, and the most that one search reads. */
const searchPageSize = 100;
const maxSearched = 2000;

/** Returns one page of the list. */
export async function listSessionEntries(context: ServerContext, query: SessionListQuery): Promise<SessionList> {
  const { limit = 100, source = 'server' } = query;
  const isMatch = createMatcher(query);
  const [stored, local] = await Promise.all([
    source === 'terminal' ? undefined : readStored(context, query, limit, isMatch),
    source === 'server' ? undefined : readTerminal(context, query.beforeTerminal, limit, isMatch),
  ]);
  const merged = [...(stored?.entries ?? []), ...(local?.entries ?? [])].toSorted((a, b) =>
    b.updatedAt.localeCompare(a.updatedAt),
  );
  const sessions = merged.slice(0, limit);
  const isCut = merged.length > limit || stored?.hasMore === true || local?.hasMore === true;
  if (!isCut) return { sessions };
  const lastOf = (of: SessionSource): string | undefined => sessions.findLast((each) => each.source === of)?.session;
  const [before, beforeTerminal] = [lastOf('server') ?? query.before, lastOf('terminal') ?? query.beforeTerminal];
  return {
    sessions,
    next: {
      ...(before === undefined ? {} : { before }),
      ...(beforeTerminal === undefined ? {} : { beforeTerminal }),
    },
  };
}

type Page = { readonly entries: readonly SessionEntry[]; readonly hasMore: boolean };
type Matcher = (entry: SessionEntry) => boolean;

function createMatcher({ q = '', folder }: SessionListQuery): Matcher {
  const words = q.toLowerCase().split(/\s+/).filter(Boolean);
  return (entry) => {
    if (folder !== undefined && folder !== '' && entry.folder !== folder) return false;
    const text = [entry.title, entry.name, entry.folder, entry.session, entry.tenant].join('\n').toLowerCase();
    return words.every((word) => text.includes(word));
  };
}

async function readStored(
  context: ServerContext,
  { before, q = '', folder = '' }: SessionListQuery,
  limit: number,
  isMatch: Matcher,
): Promise<Page> {
  const entries: SessionEntry[] = [];
  const pageSize = q === '' && folder === '' ? limit + 1 : searchPageSize;
  let last = before;
  for (let searched = 0; searched < maxSearched; searched += pageSize) {
    const page = await context.store.sessions.list({
      limit: pageSize,
      ...(last === undefined ? {} : { before: last }),
    });
    const described = await Promise.all(page.map((info) => describeStored(context, info)));
    for (const entry of described) {
      if (!isMatch(entry)) continue;
      if (entries.length === limit) return { entries, hasMore: true };
      entries.push(entry);
    }
    if (page.length < pageSize) return { entries, hasMore: false };
    last = page.at(-1)?.session;
    // Other requests are answered between the reads.
    await setImmediate();
  }
  return { entries, hasMore: true };
}

/** Adds what the runs of a session say: its first prompt is the title, and its last run has the folder and the status. */
async function describeStored({ store }: ServerContext, info: SessionInfo): Promise<SessionEntry> {
  const [latest] = await store.queue.list({ session: info.session, limit: 1 });
  // A session that a run created has the id of the run.
  const first = latest?.id === info.session ? latest : await store.queue.run(info.session);
  const title = info.name ?? first?.prompt ?? latest?.prompt;
  return {
    ...info,
    source: 'server',
    ...(title === undefined ? {} : { title: title.slice(0, maxTitleChars) }),
    ...(latest ? describeRun(latest) : {}),
  };
}

const maxTitleChars = 300;

function describeRun({ settings, status, outcome }: FleetRun): Partial<SessionEntry> {
  const { folder, model } = settings;
  return {
    status,
    ...(outcome ? { reason: outcome.reason } : {}),
    ...(typeof folder === 'string' ? { folder } : {}),
    ...(typeof model === 'string' ? { model } : {}),
  };
}

async function readTerminal(
  { terminalSessions }: ServerContext,
  before: string | undefined,
  limit: number,
  isMatch: Matcher,
): Promise<Page> {
  const all = terminalSessions?.list().map(toEntry) ?? [];
  const from = before === undefined ? 0 : all.findIndex(({ session }) => session === before) + 1;
  const found = all.slice(from).filter(isMatch);
  return { entries: found.slice(0, limit), hasMore: found.length > limit };
}

const toEntry = (session: TerminalSession): SessionEntry => ({ ...session, source: 'terminal' });
