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
  readonly list: (request: AcpRequest<ListSessionsParams>) => Promise<ListSessionsResponse>;
  readonly close: (request: AcpRequest<SessionIdParam>) => Promise<EmptyResult>;
  readonly remove: (request: AcpRequest<SessionIdParam>) => Promise<EmptyResult>;
  readonly cancel: (request: AcpRequest<SessionIdParam>) => void;
};

/** Creates the shared handlers. */
export const createAcpHandlers = (registry: AcpSessionRegistry): AcpHandlers => ({
  list: withRequestErrors(({ params: { cwd, cursor } }) => paginateSessions(registry.list(cwd ?? undefined), cursor)),
  close: withRequestErrors(async ({ params }) => {
    await registry.close(params.sessionId);
    return {};
  }),
  remove: withRequestErrors(async ({ params }) => {
    await registry.remove(params.sessionId);
    return {};
  }),
  cancel: ({ params }) => registry.get(params.sessionId).cancel(),
});

/** Parameters of opening a session. */
type OpenSessionParams = { readonly cwd: string; readonly mcpServers?: readonly unknown[] | null };

/** Creates a session; sends the initial notifications after the response. */
export async function startAcpSession(
  registry: AcpSessionRegistry,
  { cwd, mcpServers }: OpenSessionParams,
  createClient: CreateAcpClient,
): ReturnType<AcpSessionRegistry['create']> {
  const created = await registry.create({ cwd, servers: mcpServers ?? [] }, createClient);
  announceLater(created.session);
  return created;
}

/** Loads a session, replays its history if requested, then sends the initial notifications. */
export async function resumeAcpSession(
  registry: AcpSessionRegistry,
  { sessionId, cwd, mcpServers }: OpenSessionParams & SessionIdParam,
  createClient: CreateAcpClient,
  beforeAnnounce: (acpSession: AcpSession) => Promise<void> | void = () => {},
): Promise<AcpSession> {
  const acpSession = await registry.resume(sessionId, { cwd, servers: mcpServers ?? [] }, createClient);
  await beforeAnnounce(acpSession);
  announceLater(acpSession);
  return acpSession;
}

const announceLater = (acpSession: AcpSession): void => void setImmediate(() => acpSession.announce());

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
function paginateSessions(
  sessions: readonly AcpSessionSummary[],
  cursor: string | null | undefined,
): ListSessionsResponse {
  const from = Math.max(0, Math.trunc(Number(cursor ?? 0)) || 0);
  return {
    sessions: sessions.slice(from, from + pageSize).map(({ id, cwd, title, changed }) => ({
      sessionId: id,
      cwd,
      title: escapeInvisibleLine(title),
      updatedAt: changed,
    })),
    ...(from + pageSize < sessions.length ? { nextCursor: String(from + pageSize) } : {}),
  };
}
