// Form that approves or denies a tool call, or states the outcome of a call that a crash interrupted.
import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { ApprovalQuestion } from '../../../src/core/index.ts';
import { EscapedText } from './escaped-text.tsx';
import { api } from '../api/client.ts';
import { usePermission } from '../hooks/use-permission.ts';
import { ErrorMessage } from './primitives.tsx';
import { useSubmit } from '../hooks/use-poll.ts';

type ApprovalChoice = {
  readonly name: string;
  readonly allowed: boolean;
  readonly happened?: boolean;
  readonly kind: string;
};

const permissionChoices: readonly ApprovalChoice[] = [
  { name: 'Allow', allowed: true, kind: 'primary' },
  { name: 'Deny', allowed: false, kind: '' },
];

const outcomeChoices: readonly ApprovalChoice[] = [
  { name: 'It happened', allowed: false, happened: true, kind: 'primary' },
  { name: 'It did not happen: run it again', allowed: true, happened: false, kind: '' },
  { name: 'Unknown', allowed: false, happened: false, kind: '' },
];

/** The question and its answers; after one is sent, a confirmation is shown until the session has read it. */
export function ApprovalForm({
  session,
  question,
  sent,
}: {
  readonly session: string;
  readonly question: ApprovalQuestion;
  readonly sent?: (answer: string) => void;
}): JSX.Element {
  const [given, setGiven] = useState<string | undefined>(undefined);
  const { busy, error, submit } = useSubmit();
  const may = usePermission('runner');
  const confirmation = useRef<HTMLParagraphElement>(null);
  // The focused button disappears, so the confirmation gets the focus.
  useEffect(() => {
    if (given !== undefined) confirmation.current?.focus();
  }, [given]);
  const choices = question.kind === 'unknown-outcome' ? outcomeChoices : permissionChoices;
  const answer = ({ name, allowed, happened }: ApprovalChoice): void =>
    submit(async () => {
      await api.resolveApproval(session, question, allowed, happened);
      setGiven(name);
      sent?.(name);
    });
  return (
    <div class="answering" role="group" aria-label={`Question about ${question.tool}`}>
      <p class="question">
        {/* The preview above says what the call does; without one, the question does. */}
        <EscapedText text={question.preview?.title ?? question.question} />
      </p>
      {given === undefined ? (
        <div class="buttons">
          {choices.map((choice) => (
            <button
              key={choice.name}
              type="button"
              class={choice.kind}
              disabled={busy || !may}
              onClick={() => answer(choice)}
            >
              {choice.name}
            </button>
          ))}
          {may ? null : <span class="hint">Your key is read-only.</span>}
        </div>
      ) : (
        <p class="sent" role="status" tabIndex={-1} ref={confirmation}>
          Answered: {given}. The run continues when a worker has read the answer.
        </p>
      )}
      <ErrorMessage failed={error} />
    </div>
  );
}
