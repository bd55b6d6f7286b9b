// Request handlers and pagination shared by ACP versions 1 and 2.
import type { ListSessionsResponse } from '@agentclientprotocol/sdk';
import type { ConversationStatus } from '../../coding-agent/index.ts';
import { escapeInvisibleLine } from '../../core/index.ts';
import { withRequestErrors } from './errors.ts';
import type { AcpSession } from './acp-session.ts';
import type { CreateAcpClient, AcpSessionRegistry, AcpSessionSummary } from './session-registry.ts';

type AcpRequest<Params> = { readonly params: Params };
type SessionIdParam = { readonly sessionId: string };
type ListSessionsParams = { readonly cwd?: string | null; readonly cursor?: string | null };
type EmptyResult = Record<string, never>;

/** The shared request handlers. */
export type AcpHandlers = {
  readonly list: (asking: AcpRequest<ListSessionsParams>) => Promise<ListSessionsResponse>;
  readonly close: (asking: AcpRequest<SessionIdParam>) => Promise<EmptyResult>;
  readonly remove: (asking: AcpRequest<SessionIdParam>) => Promise<EmptyResult>;
  readonly cancel: (asking: AcpRequest<SessionIdParam>) => void;
};

/** Creates the shared handlers. */
export const createAcpHandlers = (seats: AcpSessionRegistry): AcpHandlers => ({
  list: withRequestErrors(({ params: { cwd, cursor } }) => paginateSessions(seats.list(cwd ?? undefined), cursor)),
  close: withRequestErrors(async ({ params }) => {
    await seats.close(params.sessionId);
    return {};
  }),
  remove: withRequestErrors(async ({ params }) => {
    await seats.remove(params.sessionId);
    return {};
  }),
  cancel: ({ params }) => seats.get(params.sessionId).cancel(),
});

/** Parameters of opening a session. */
type OpenSessionParams = { readonly cwd: string; readonly mcpServers?: readonly unknown[] | null };

/** Creates a session; sends the initial notifications after the response. */
export async function startAcpSession(
  seats: AcpSessionRegistry,
  { cwd, mcpServers }: OpenSessionParams,
  editorFor: CreateAcpClient,
): ReturnType<AcpSessionRegistry['create']> {
  const made = await seats.create({ cwd, servers: mcpServers ?? [] }, editorFor);
  announceLater(made.session);
  return made;
}

/** Loads a session, replays its history if requested, then sends the initial notifications. */
export async function resumeAcpSession(
  seats: AcpSessionRegistry,
  { sessionId, cwd, mcpServers }: OpenSessionParams & SessionIdParam,
  editorFor: CreateAcpClient,
  first: (seat: AcpSession) => Promise<void> | void = () => {},
): Promise<AcpSession> {
  const seat = await seats.resume(sessionId, { cwd, servers: mcpServers ?? [] }, editorFor);
  await first(seat);
  announceLater(seat);
  return seat;
}

const announceLater = (seat: AcpSession): void => void setImmediate(() => seat.announce());

/** Context usage and cost; undefined if the context window is unknown. */
export function toUsageUpdate({ context, usd }: ConversationStatus): UsageUpdate | undefined {
  if (context?.window === undefined) return undefined;
  const cost = usd === undefined ? {} : { cost: { amount: usd, currency: 'USD' } };
  return { sessionUpdate: 'usage_update', used: context.used, size: context.window, ...cost };
}

type UsageUpdate = {
  readonly sessionUpdate: 'usage_update';
  readonly used: number;
  readonly size: number;
  readonly cost?: { readonly amount: number; readonly currency: string };
};

const pageSize = 50;

/** Returns a page of a list; the cursor is the index of its first entry. */
function paginateSessions(all: readonly AcpSessionSummary[], cursor: string | null | undefined): ListSessionsResponse {
  const from = Math.max(0, Math.trunc(Number(cursor ?? 0)) || 0);
  return {
    sessions: all.slice(from, from + pageSize).map(({ id, cwd, name, first, changed }) => ({
      sessionId: id,
      cwd,
      title: escapeInvisibleLine(first ?? name),
      updatedAt: changed,
    })),
    ...(from + pageSize < all.length ? { nextCursor: String(from + pageSize) } : {}),
  };
}
