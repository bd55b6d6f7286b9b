// The list of sessions as an editor asks for it, a page at a time.
import type { ListSessionsResponse } from '@agentclientprotocol/sdk';
import { escapeInvisibleLine } from '../../core/index.ts';
import type { AcpSessionSummary } from './session-registry.ts';

const pageSize = 50;

/** A page of a list; the cursor is the place of its first entry. */
export function paginateSessions(
  all: readonly AcpSessionSummary[],
  cursor: string | null | undefined,
): ListSessionsResponse {
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
