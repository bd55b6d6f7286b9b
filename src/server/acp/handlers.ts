// What both versions of the protocol ask for in the same words, and are answered alike.
import type { ListSessionsResponse } from '@agentclientprotocol/sdk';
import { withRequestErrors } from './errors.ts';
import { paginateSessions } from './pagination.ts';
import type { AcpSession } from './acp-session.ts';
import type { CreateAcpClient, AcpSessionRegistry } from './session-registry.ts';
import type { ConversationStatus } from '../../coding-agent/index.ts';

type AcpRequest<Params> = { readonly params: Params };
type SessionIdParam = { readonly sessionId: string };
type ListSessionsParams = { readonly cwd?: string | null; readonly cursor?: string | null };
type EmptyResult = Record<string, never>;

/** The handlers of requests that are the same in both. */
export type AcpHandlers = {
  readonly list: (asking: AcpRequest<ListSessionsParams>) => Promise<ListSessionsResponse>;
  readonly close: (asking: AcpRequest<SessionIdParam>) => Promise<EmptyResult>;
  readonly remove: (asking: AcpRequest<SessionIdParam>) => Promise<EmptyResult>;
  readonly cancel: (asking: AcpRequest<SessionIdParam>) => void;
};

/** Handlers for these sessions. */
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

/** What a session is opened with. */
type OpenSessionParams = { readonly cwd: string; readonly mcpServers?: readonly unknown[] | null };

/** Begins a session; the editor is greeted once it knows of it. */
export async function startAcpSession(
  seats: AcpSessionRegistry,
  { cwd, mcpServers }: OpenSessionParams,
  editorFor: CreateAcpClient,
): ReturnType<AcpSessionRegistry['create']> {
  const made = await seats.create({ cwd, servers: mcpServers ?? [] }, editorFor);
  announceLater(made.session);
  return made;
}

/** Goes on with a session, after what its editor is to be told first; then the editor is greeted. */
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

/** How full the window is and what was spent; nothing where the window is not known. */
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
