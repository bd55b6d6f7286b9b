// What waited for a person and no longer does: a line for each, so that an answer leads on to what came of it.
import type { JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { EscapedText } from './markdown-view.tsx';
import { formatHeading } from '../text/labels.ts';
import { api } from '../api/client.ts';
import type { Approval } from '../api/types.ts';
import { createAtom, useAtom } from '../state/atom.ts';
import { StatusBadge } from './primitives.tsx';
import { usePoll } from '../hooks/use-poll.ts';
import { linkTo } from '../state/router.ts';

type ResolvedApproval = Pick<Approval, 'run' | 'session' | 'prompt'>;

const maxResolvedShown = 10;

/** Kept between visits of the screen, the latest first. */
const resolvedApprovals = createAtom<readonly ResolvedApproval[]>([]);

/** What was answered from here, by run. */
const answersByRun = new Map<string, readonly string[]>();

/** Remembers an answer that was given here. */
export const recordAnswer = (run: string, answer: string): void =>
  void answersByRun.set(run, [...(answersByRun.get(run) ?? []), answer]);

/** The lines of what has left a list of approvals while somebody looked. */
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
    // One that asks again waits again, and is no longer among these.
    const kept = resolvedApprovals.get().filter(({ run }) => !known.has(run));
    if (left.length > 0 || kept.length < resolvedApprovals.get().length)
      resolvedApprovals.set([...left, ...kept].slice(0, maxResolvedShown));
  }, [approvals]);
  if (lines.length === 0) return null;
  return (
    <section aria-labelledby="departed-title">
      <h2 id="departed-title">No longer waiting</h2>
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
        {answers ? `You answered: ${answers.join(', ')}.` : 'Answered by somebody else, or its run ended.'}
      </span>
      {value ? <StatusBadge run={value.run} /> : null}
      <a href={linkTo('sessions', session)}>
        See its session<span class="unseen"> about {formatHeading(prompt)}</span>
      </a>
    </li>
  );
}
