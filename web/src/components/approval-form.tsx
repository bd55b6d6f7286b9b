// Form that answers a question about a tool call: allows the call, allows later calls too, denies it with or without a reply, or states the outcome of a call that a crash interrupted.
import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { ApprovalQuestion, ApprovalScope } from '../../../src/core/index.ts';
import { EscapedText } from './escaped-text.tsx';
import { api } from '../api/client.ts';
import type { ApprovalDecision } from '../api/types.ts';
import { useOfferedScopes } from '../hooks/use-offered-scopes.ts';
import { usePermission } from '../hooks/use-permission.ts';
import { ErrorMessage } from './primitives.tsx';
import { useSubmit } from '../hooks/use-poll.ts';

type ApprovalChoice = ApprovalDecision & { readonly name: string; readonly kind: string };

const permissionChoices: readonly ApprovalChoice[] = [
  { name: 'Allow once', allowed: true, kind: 'primary' },
  { name: 'Deny', allowed: false, kind: '' },
];

/** A call with a warning: the answer that is offered first is no. */
const warnedChoices: readonly ApprovalChoice[] = [
  { name: 'Deny', allowed: false, kind: 'primary' },
  { name: 'Allow once', allowed: true, kind: '' },
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
  const isOutcome = question.kind === 'unknown-outcome';
  const scopes = useOfferedScopes(session, question, may && !isOutcome && given === undefined);
  const confirmation = useRef<HTMLParagraphElement>(null);
  // The focused button disappears, so the confirmation gets the focus.
  useEffect(() => {
    if (given !== undefined) confirmation.current?.focus();
  }, [given]);
  const answer = (name: string, decision: ApprovalDecision): void =>
    submit(async () => {
      await api.resolveApproval(session, question, decision);
      setGiven(name);
      sent?.(name);
    });
  const disabled = busy || !may;
  const choices = isOutcome ? outcomeChoices : question.preview?.warning ? warnedChoices : permissionChoices;
  return (
    <div class="answering" role="group" aria-label={`Question about ${question.tool}`} onKeyDown={onAnswerKey}>
      <p class="question">
        {/* The preview above says what the call does; without one, the question does. */}
        <EscapedText text={question.preview?.title ?? question.question} />
      </p>
      {given === undefined ? (
        <>
          <div class="buttons">
            {choices.map(({ name, kind, ...decision }) => (
              <AnswerButton
                key={name}
                kind={kind}
                disabled={disabled}
                text={name}
                onClick={() => answer(name, decision)}
              />
            ))}
            {may ? null : <span class="hint">Your key is read-only.</span>}
          </div>
          {isOutcome ? null : (
            <>
              <ScopeList
                scopes={scopes}
                disabled={disabled}
                onChoose={({ scope, label }) => answer(formatScope(label), { allowed: true, scope })}
              />
              {may ? (
                <ReplyForm disabled={busy} onReply={(reply) => answer('Deny', { allowed: false, reply })} />
              ) : null}
            </>
          )}
        </>
      ) : (
        <p class="sent" role="status" tabIndex={-1} ref={confirmation}>
          Answered: {given}. The run continues when a worker has read the answer.
        </p>
      )}
      <ErrorMessage failed={error} />
    </div>
  );
}

function AnswerButton({
  kind,
  disabled,
  text,
  until,
  onClick,
}: {
  readonly kind: string;
  readonly disabled: boolean;
  readonly text: string;
  /** How long the answer counts. */
  readonly until?: string | undefined;
  readonly onClick: () => void;
}): JSX.Element {
  return (
    <button type="button" class={kind} data-answer disabled={disabled} onClick={onClick}>
      <span>
        <EscapedText text={text} />
      </span>
      {until === undefined ? null : <span class="until"> {until}</span>}
    </button>
  );
}

/** What can be allowed besides this call. It is below the other answers, so that they do not move when it appears. */
function ScopeList({
  scopes,
  disabled,
  onChoose,
}: {
  readonly scopes: readonly ApprovalScope[];
  readonly disabled: boolean;
  readonly onChoose: (scope: ApprovalScope) => void;
}): JSX.Element | null {
  if (scopes.length === 0) return null;
  return (
    <div class="scopes" role="group" aria-label="Allow this call and later ones">
      <p class="hint">Allow this call and do not ask again for:</p>
      {scopes.map((scope) => (
        <AnswerButton
          key={scope.scope}
          kind={`scope ${scope.duration ?? ''}`}
          disabled={disabled}
          text={formatScope(scope.label).replace(durationPattern, '')}
          until={durationPattern.exec(scope.label)?.[1]}
          onClick={() => onChoose(scope)}
        />
      ))}
    </div>
  );
}

/** The end of a label says how long the scope counts. */
const durationPattern = / (in this (?:session|project, kept))$/;

/** The label of a scope without the yes that the heading says. */
function formatScope(label: string): string {
  const text = label.replace(/^Yes, and (?:allow )?/, '');
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** A text for the model instead of a yes: it denies the call. */
function ReplyForm({
  disabled,
  onReply,
}: {
  readonly disabled: boolean;
  readonly onReply: (reply: string) => void;
}): JSX.Element {
  const [text, setText] = useState('');
  return (
    <form
      class="reply"
      onSubmit={(event) => {
        event.preventDefault();
        if (text.trim() !== '') onReply(text.trim());
      }}
    >
      <input
        type="text"
        aria-label="Reply to the model, which denies the call"
        placeholder="Deny with a reply to the model"
        maxLength={10_000}
        value={text}
        onInput={({ currentTarget }) => setText(currentTarget.value)}
      />
      <button type="submit" disabled={disabled || text.trim() === ''}>
        Deny with reply
      </button>
    </form>
  );
}

const stepByKey = new Map([
  ['ArrowDown', 1],
  ['ArrowRight', 1],
  ['ArrowUp', -1],
  ['ArrowLeft', -1],
]);

/** Arrow keys move between the answers, a digit chooses one, and a letter starts a reply. Text is never an answer. */
function onAnswerKey(event: KeyboardEvent & { readonly currentTarget: HTMLDivElement }): void {
  const { target, currentTarget, key } = event;
  const isModified = event.ctrlKey || event.metaKey || event.altKey;
  if (!(target instanceof HTMLButtonElement) || target.dataset['answer'] === undefined || isModified) return;
  if (/^\p{L}$/u.test(key)) {
    // The field gets the letter: a sentence that is typed here is a reply, and its spaces press no button.
    event.stopPropagation();
    currentTarget.querySelector<HTMLInputElement>('.reply input')?.focus();
    return;
  }
  const buttons = [...currentTarget.querySelectorAll<HTMLButtonElement>('[data-answer]:enabled')];
  const step = stepByKey.get(key);
  const at = step === undefined ? Number(key) - 1 : buttons.indexOf(target) + step;
  const chosen = buttons[at];
  if (!chosen) return;
  event.preventDefault();
  event.stopPropagation();
  if (step === undefined) chosen.click();
  else chosen.focus();
}
