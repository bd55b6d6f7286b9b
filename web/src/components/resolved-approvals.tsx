// Approvals that are no longer pending, each with a link to its session.
import type { JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { EscapedText } from './escaped-text.tsx';
import { formatHeading } from '../text/labels.ts';
import { api } from '../api/client.ts';
import type { Approval } from '../api/types.ts';
import { createAtom, useAtom } from '../state/atom.ts';
import { StatusBadge } from './primitives.tsx';
import { usePoll } from '../hooks/use-poll.ts';
import { linkTo } from '../state/router.ts';

type ResolvedApproval = Pick<Approval, 'run' | 'session' | 'prompt'>;

const maxResolvedShown = 10;

/** Kept while the page is open, latest first. */
const resolvedApprovals = createAtom<readonly ResolvedApproval[]>([]);

/** The answers that were given on this page, by run. */
const answersByRun = new Map<string, readonly string[]>();

/** Records an answer that was given on this page. */
export const recordAnswer = (run: string, answer: string): void =>
  void answersByRun.set(run, [...(answersByRun.get(run) ?? []), answer]);

/** Lists the approvals that have left the list since the page was opened. */
export function ResolvedApprovals({
  approvals,
}: {
  readonly approvals: readonly Approval[] | undefined;
}): JSX.Element | null {
  const lines = useAtom(resolvedApprovals);
  const before = useRef<readonly Approval[]>([]);
  useEffect(() => {
    if (approvals === undefined) return;
    const waiting = new Set(approvals.map(({ run }) => run));
    const left = before.current.filter(({ run }) => !waiting.has(run));
    const known = new Set([...waiting, ...left.map(({ run }) => run)]);
    before.current = approvals;
    // A run that asks again is pending again.
    const kept = resolvedApprovals.get().filter(({ run }) => !known.has(run));
    if (left.length > 0 || kept.length < resolvedApprovals.get().length)
      resolvedApprovals.set([...left, ...kept].slice(0, maxResolvedShown));
  }, [approvals]);
  if (lines.length === 0) return null;
  return (
    <section aria-labelledby="departed-title">
      <h2 id="departed-title">Resolved approvals</h2>
      <ul class="departed">
        {lines.map((line) => (
          <ResolvedApprovalRow key={line.run} line={line} />
        ))}
      </ul>
    </section>
  );
}

function ResolvedApprovalRow({ line: { run, session, prompt } }: { readonly line: ResolvedApproval }): JSX.Element {
  const { value } = usePoll((signal) => api.run(run, signal), 3000, run);
  const answers = answersByRun.get(run);
  return (
    <li>
      <span class="words" dir="auto">
        <EscapedText text={formatHeading(prompt)} />
      </span>
      <span class="hint">
        {answers ? `You answered: ${answers.join(', ')}.` : 'Resolved by another client, or the run ended.'}
      </span>
      {value ? <StatusBadge run={value.run} /> : null}
      <a href={linkTo('sessions', session)}>
        Open session<span class="unseen"> about {formatHeading(prompt)}</span>
      </a>
    </li>
  );
}
