// Renders a tool call: one line with tool, target, outcome and duration, which opens to its input, approvals and result.
import type { JSX } from 'preact';
import { useId, useState } from 'preact/hooks';
import type { FilePart } from '../../../src/core/index.ts';
import { summarizeCall, summarizeResult, unwrapCall, unwrapOutsideText, isObject } from '../text/call-summary.ts';
import { countChanges, isUnifiedDiff, parseUnifiedDiff } from '../text/diff.ts';
import { formatDuration } from '../text/format.ts';
import { languageOfPath } from '../text/highlight.ts';
import { EscapedText } from './escaped-text.tsx';
import { ApprovalForm } from './approval-form.tsx';
import { CallInput, ChangeView, PreviewView, getMadeChange, getRequestedChange } from './call-content.tsx';
import { DiffView, LongText } from './code-view.tsx';
import { Icon } from './icon.tsx';
import { useNow } from '../hooks/use-poll.ts';
import { isClientSideCall, getPendingApproval, type TimelineCall } from '../state/timeline-call.ts';

/** The state of a call: how it ended, or what it waits for. */
export function getCallState(call: TimelineCall): string {
  if (call.result) return call.result.outcome;
  if (getPendingApproval(call)) return 'asks';
  if (isClientSideCall(call)) return 'handed';
  return call.started === undefined ? 'waits' : 'runs';
}

/** A call; it is open while it waits for approval, and closed otherwise. `session` is absent where it cannot be approved. */
export function CallView({ call, session }: { readonly call: TimelineCall; readonly session?: string }): JSX.Element {
  const asked = getPendingApproval(call);
  const state = getCallState(call);
  const [choice, setOpen] = useState<boolean | undefined>(undefined);
  const isOpen = choice ?? asked !== undefined;
  const id = useId();
  const { icon, name, target } = summarizeCall(call.tool, call.input);
  return (
    <section class={`call ${state}`} aria-label={`Call of ${name}`}>
      <button
        type="button"
        class="call-line"
        aria-expanded={isOpen}
        aria-controls={id}
        onClick={() => setOpen(!isOpen)}
      >
        <Icon name={icon} />
        <span class="tool">
          <EscapedText text={name} />
        </span>
        <span class="gist">
          <EscapedText text={target} />
        </span>
        <CallOutcome call={call} state={state} />
        <Icon name={isOpen ? 'open' : 'next'} size={12} />
      </button>
      {isOpen ? (
        <div class="call-body" id={id}>
          <CallBody call={call} session={session} />
        </div>
      ) : null}
    </section>
  );
}

/** The outcome at the end of the line: size of the change or of the result, state and duration. */
function CallOutcome({ call, state }: { readonly call: TimelineCall; readonly state: string }): JSX.Element {
  const { result } = call;
  const change = result ? (getMadeChange(result.data) ?? undefined) : getRequestedChange(call.tool, call.input);
  const counts = change ? countChanges(change.lines) : undefined;
  return (
    <span class="state">
      {counts && counts.added + counts.removed > 0 ? (
        <>
          <span class="count added">+{counts.added}</span>
          <span class="count removed">−{counts.removed}</span>
        </>
      ) : result ? (
        <span class="result-gist">
          <EscapedText text={summarizeResult(result.outcome, unwrapOutsideText(result.text).text)} />
        </span>
      ) : null}
      {state === 'ok' ? (
        <span class="unseen">done</span>
      ) : (
        <span class="state-name">{callStateLabels[state] ?? state}</span>
      )}
      {result ? (
        <span class="duration">{formatDuration(result.ms)}</span>
      ) : call.started === undefined ? null : (
        <RunningTime since={call.started} />
      )}
    </span>
  );
}

function RunningTime({ since }: { readonly since: string }): JSX.Element {
  return <span class="duration">{formatDuration(Math.max(0, useNow() - Date.parse(since)))}</span>;
}

function CallBody({
  call,
  session,
}: {
  readonly call: TimelineCall;
  readonly session: string | undefined;
}): JSX.Element {
  const asked = getPendingApproval(call);
  const { result } = call;
  const made = getMadeChange(result?.data);
  return (
    <>
      {asked?.preview ? (
        <PreviewView preview={asked.preview} />
      ) : call.invalid === undefined ? (
        made ? null : (
          <CallInput tool={call.tool} input={call.input} />
        )
      ) : (
        <LongText text={call.invalid} label="the input" />
      )}
      {call.approvals.map((ask, i) =>
        ask.answer ? (
          <p key={i} class="answered">
            <EscapedText text={ask.question} /> <strong>{formatAnswer(ask)}</strong>
            {ask.answer.by === undefined ? '' : ` By ${ask.answer.by}.`}
          </p>
        ) : null,
      )}
      {asked && session !== undefined ? (
        <ApprovalForm
          session={session}
          question={{
            call: call.id,
            tool: call.tool,
            question: asked.question,
            ...(asked.kind ? { kind: asked.kind } : {}),
            ...(asked.preview ? { preview: asked.preview } : {}),
          }}
        />
      ) : null}
      {made ? <ChangeView change={made} /> : null}
      {result ? <CallResult call={call} /> : null}
      {result?.files.map((file, i) => (
        <FileView key={i} file={file} />
      ))}
    </>
  );
}

function formatAnswer({ kind, answer }: TimelineCall['approvals'][number]): string {
  if (answer?.happened) return 'It happened.';
  const isOutcome = kind === 'unknown-outcome';
  if (answer?.allowed) return isOutcome ? 'It did not happen: run again.' : 'Allowed.';
  return isOutcome ? 'Outcome unknown.' : 'Denied.';
}

/** The text of a result: a diff as a diff, the content of a file in the colours of its language. */
function CallResult({ call }: { readonly call: TimelineCall }): JSX.Element | null {
  const { tool, input } = unwrapCall(call.tool, call.input);
  const { text, from } = unwrapOutsideText(call.result?.text ?? '');
  if (text.trim() === '') return null;
  const path = isObject(input) && typeof input['path'] === 'string' ? input['path'] : '';
  return (
    <>
      <h4>Result{from === undefined ? '' : ` from ${from}`}</h4>
      {isUnifiedDiff(text) ? (
        <DiffView lines={parseUnifiedDiff(text)} label={`Result of ${tool}`} language={languageOfPath(path)} />
      ) : (
        <LongText
          text={text}
          label={`the result of ${tool}`}
          language={tool === 'read_file' ? languageOfPath(path) : ''}
        />
      )}
    </>
  );
}

const callStateLabels: Readonly<Record<string, string>> = {
  ok: 'done',
  failed: 'failed',
  denied: 'denied',
  interrupted: 'interrupted',
  unknown: 'outcome unknown',
  asks: 'waits for approval',
  handed: 'sent to the client',
  waits: 'not started',
  runs: 'running',
};

const imageTypes = /^image\/(png|jpeg|gif|webp)$/;

/** A file of a message: images are shown, other files by name; nothing is fetched from other hosts. */
export function FileView({ file }: { readonly file: FilePart }): JSX.Element {
  const name = file.name ?? file.mediaType;
  if (!imageTypes.test(file.mediaType) || !/^[\w+/=\s]+$/.test(file.data)) return <p class="file">File: {name}</p>;
  return <img class="picture" src={`data:${file.mediaType};base64,${file.data}`} alt={name} />;
}
