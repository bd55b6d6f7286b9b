// The scopes that the server offers for a question to this key: those of the question, or those of the list of pending approvals.
import { useEffect, useState } from 'preact/hooks';
import type { ApprovalQuestion, ApprovalScope } from '../../../src/core/index.ts';
import { api } from '../api/client.ts';

/** A question is recorded before its run waits, so the list may not have it yet. */
const retryMs = 1000;
const maxTries = 20;

/** Returns the scopes besides `once`; none until they are known. */
export function useOfferedScopes(
  session: string,
  question: ApprovalQuestion,
  isUsed: boolean,
): readonly ApprovalScope[] {
  const [found, setFound] = useState<readonly ApprovalScope[]>([]);
  const isKnown = question.scopes !== undefined;
  useEffect(() => {
    setFound([]);
    if (isKnown || !isUsed) return undefined;
    const stop = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const look = async (tries: number): Promise<void> => {
      const { approvals } = await api.approvals(stop.signal).catch(() => ({ approvals: [] }));
      if (stop.signal.aborted) return;
      const listed = approvals
        .filter((approval) => approval.session === session)
        .flatMap(({ pendingApprovals }) => pendingApprovals)
        .find((each) => each.call === question.call && each.question === question.question);
      if (listed) setFound(listed.scopes ?? []);
      else if (tries < maxTries) timer = setTimeout(() => void look(tries + 1), retryMs);
    };
    void look(1);
    return () => {
      stop.abort();
      clearTimeout(timer);
    };
  }, [session, question.call, question.question, isKnown, isUsed]);
  return (question.scopes ?? found).filter(({ scope }) => scope !== 'once');
}
