// Announces starts, approvals and ends of a run to screen readers, without reading the streamed answer.
import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { FleetRun } from '../../../src/core/index.ts';
import { formatRunStatus } from '../text/labels.ts';
import type { SessionFeed } from '../hooks/use-session-feed.ts';
import { getPendingApproval } from '../state/timeline-call.ts';

/** Milliseconds before an announcement, so that short states are skipped. */
const announceDelayMs = 700;

/** A visually hidden live region with the status of a run. */
export function Announcer({
  feed,
  run,
}: {
  readonly feed: SessionFeed;
  readonly run: FleetRun | undefined;
}): JSX.Element {
  const [announced, setAnnounced] = useState('');
  const before = useRef('');
  const words = formatAnnouncement(feed, run);
  useEffect(() => {
    if (before.current === words) return undefined;
    before.current = words;
    const timer = setTimeout(() => setAnnounced(words), announceDelayMs);
    return () => clearTimeout(timer);
  }, [words]);
  return (
    <p class="unseen" role="status">
      {announced}
    </p>
  );
}

function formatAnnouncement({ timeline, live }: SessionFeed, run: FleetRun | undefined): string {
  const turn = timeline.items.findLast((item) => item.type === 'turn');
  const asking =
    turn?.type === 'turn' ? turn.calls.map(getPendingApproval).find((ask) => ask !== undefined) : undefined;
  if (run?.status === 'ended')
    return [`The run has ended: ${formatRunStatus(run)}.`, run.outcome?.error?.message, run.outcome?.text.slice(0, 300)]
      .filter(Boolean)
      .join(' ');
  if (asking) return `The run waits for approval: ${asking.question}`;
  if (live) return 'The answer is streaming.';
  return run ? `Run: ${formatRunStatus(run)}.` : '';
}
