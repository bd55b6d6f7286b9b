// Pagination of the session list.
import type { ListSessionsResponse } from '@agentclientprotocol/sdk';
import { escapeInvisibleLine } from '../../core/index.ts';
import type { AcpSessionSummary } from './session-registry.ts';

const pageSize = 50;

/** Returns a page of a list; the cursor is the index of its first entry. */
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
