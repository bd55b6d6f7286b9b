// Screen of pending approvals, each with its exact call.
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { EscapedText } from '../components/escaped-text.tsx';
import { truncate } from '../text/labels.ts';
import { ApprovalForm } from '../components/approval-form.tsx';
import { CallInput, PreviewView } from '../components/call-content.tsx';
import { Icon } from '../components/icon.tsx';
import { notifiesApprovals, toggleNotifications } from '../hooks/use-pending-approvals.ts';
import { useAtom } from '../state/atom.ts';
import { summarizeCall } from '../text/call-summary.ts';
import { ResolvedApprovals, recordAnswer } from '../components/resolved-approvals.tsx';
import { EmptyState, ErrorMessage, PageTitle, RelativeTime } from '../components/primitives.tsx';
import { usePoll } from '../hooks/use-poll.ts';
import { linkTo } from '../state/router.ts';
import { api } from '../api/client.ts';
import type { Approval } from '../api/types.ts';

/** The approvals screen. */
export function ApprovalsScreen(): JSX.Element {
  const { value, error, refresh } = usePoll((signal) => api.approvals(signal), 2000);
  const approvals = value?.approvals ?? [];
  const isNotified = useAtom(notifiesApprovals);
  return (
    <>
      <PageTitle
        beside={
          typeof Notification === 'undefined' ? null : (
            <button type="button" class="quiet" aria-pressed={isNotified} onClick={() => void toggleNotifications()}>
              <Icon name="bell" size={14} /> {isNotified ? 'Notifications on' : 'Notify me'}
            </button>
          )
        }
      >
        Approvals
      </PageTitle>
      <ErrorMessage failed={error} />
      {value && approvals.length === 0 ? (
        <EmptyState icon="approvals" title="No pending approvals.">
          <p>If a call needs approval, its run waits here until you decide. A waiting run costs nothing.</p>
          <p>
            Your policy decides which calls need approval. Start a run in <a href={linkTo('ask')}>Ask</a>.
          </p>
        </EmptyState>
      ) : null}
      {approvals.map((approval) => (
        <ApprovalView key={approval.run} approval={approval} again={refresh} />
      ))}
      <ResolvedApprovals approvals={value?.approvals} />
    </>
  );
}

function ApprovalView({ approval, again }: { readonly approval: Approval; readonly again: () => void }): JSX.Element {
  const [answered, setAnswered] = useState<readonly string[]>([]);
  return (
    <article class="approval">
      <header>
        <h2 class="words" dir="auto">
          <EscapedText text={truncate(approval.prompt, 300)} />
        </h2>
        <p class="hint">
          <a href={linkTo('runs', approval.run)}>Run {approval.run.slice(0, 8)}</a> requested approval{' '}
          <RelativeTime time={approval.since} />. <a href={linkTo('sessions', approval.session)}>Open session</a>
        </p>
      </header>
      {approval.pendingApprovals.map((question) => (
        <section key={question.call} class="call asks" aria-label={`Call of ${question.tool}`}>
          <header class="call-line">
            <Icon name={summarizeCall(question.tool, question.input ?? null).icon} />
            <span class="tool">
              <EscapedText text={summarizeCall(question.tool, question.input ?? null).name} />
            </span>
            <span class="state">
              <span class="state-name">
                {question.kind === 'unknown-outcome' ? 'outcome unknown' : 'waits for approval'}
              </span>
            </span>
          </header>
          <div class="call-body">
            {question.preview ? (
              <PreviewView preview={question.preview} />
            ) : question.input === undefined || question.input === null ? null : (
              <CallInput tool={question.tool} input={question.input} />
            )}
            <ApprovalForm
              session={approval.session}
              question={question}
              sent={(answer) => {
                recordAnswer(approval.run, answer);
                setAnswered([...answered, question.call]);
                if (answered.length + 1 === approval.pendingApprovals.length) setTimeout(again, 500);
              }}
            />
          </div>
        </section>
      ))}
    </article>
  );
}
