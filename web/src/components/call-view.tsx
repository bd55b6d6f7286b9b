// Renders a tool call: its exact input, its approvals and its result.
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { FilePart, Json } from '../../../src/core/index.ts';
import { formatCount, formatDuration } from '../text/format.ts';
import { CopyButton } from './copy-button.tsx';
import { EscapedText } from './markdown-view.tsx';
import { ApprovalForm } from './approval-form.tsx';
import { isClientSideCall, getPendingApproval, type TimelineCall } from '../state/timeline.ts';

/** The exact input of a call: a single text as it is, anything else as JSON. */
export function CallInput({ tool, input }: { readonly tool: string; readonly input: Json | undefined }): JSX.Element {
  const fields = typeof input === 'object' && input !== null && !Array.isArray(input) ? Object.entries(input) : [];
  const plain = fields.length > 0 && fields.every(([, value]) => typeof value !== 'object' || value === null);
  if (!plain)
    return (
      <pre class="code" tabIndex={0} aria-label={`Input of ${tool}`}>
        <EscapedText text={JSON.stringify(input ?? null, undefined, 2)} />
      </pre>
    );
  return (
    <dl class="input">
      {fields.map(([name, value]) => (
        <div key={name}>
          <dt>
            <EscapedText text={name} />
          </dt>
          <dd>
            <LongText text={typeof value === 'string' ? value : JSON.stringify(value)} label={name} />
          </dd>
        </div>
      ))}
    </dl>
  );
}

const previewLines = 14;

type LongTextProps = { readonly text: string; readonly label?: string; readonly isDiff?: boolean };

/** A text that is collapsed if it is long; `label` names it for screen readers. */
export function LongText({ text, label = 'this text', isDiff = false }: LongTextProps): JSX.Element {
  const [isOpen, setOpen] = useState(false);
  const lines = text.split('\n');
  const isLong = lines.length > previewLines + 4 || text.length > 6000;
  const shown = isLong && !isOpen ? lines.slice(0, previewLines).join('\n').slice(0, 4000) : text;
  return (
    <>
      <div class="copied">
        <pre class="code" tabIndex={0}>
          {isDiff ? shown.split('\n').map(renderDiffLine) : <EscapedText text={shown} />}
        </pre>
        <CopyButton text={text} what={label} />
      </div>
      {isLong ? (
        <button type="button" class="quiet" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          {isOpen ? 'Show less' : lines.length > 1 ? `Show all ${formatCount(lines.length)} lines` : 'Show all'}
        </button>
      ) : null}
    </>
  );
}

function renderDiffLine(line: string, key: number): JSX.Element {
  const kind = /^\+(?!\+\+)/.test(line) ? 'added' : /^-(?!--)/.test(line) ? 'removed' : undefined;
  return (
    <span key={key} class={kind}>
      <EscapedText text={`${line}\n`} />
    </span>
  );
}

const looksLikeDiff = (text: string): boolean => /^@@ .* @@/m.test(text) || /^--- .*\n\+\+\+ /m.test(text);

/** A call with its state, approvals and result. */
export function CallView({ call, session }: { readonly call: TimelineCall; readonly session: string }): JSX.Element {
  const asked = getPendingApproval(call);
  const { result } = call;
  const state =
    result?.outcome ??
    (asked ? 'asks' : isClientSideCall(call) ? 'handed' : call.started === undefined ? 'waits' : 'runs');
  return (
    <section class={`call ${state}`} aria-label={`Call of ${call.tool}`}>
      <header>
        <span class="tool">
          <EscapedText text={call.tool} />
        </span>
        {asked ? null : (
          <span class="gist">
            <EscapedText text={formatCallSummary(call.input)} />
          </span>
        )}
        <span class="state">
          {callStateLabels[state] ?? state}
          {result ? ` · ${formatDuration(result.ms)}` : ''}
        </span>
      </header>
      {call.approvals.map((ask, i) =>
        ask.answer ? (
          <p key={i} class="answered">
            <EscapedText text={ask.question} />{' '}
            <strong>
              {ask.answer.happened
                ? 'It happened.'
                : ask.answer.allowed
                  ? ask.kind === 'unknown-outcome'
                    ? 'It did not happen: run again.'
                    : 'Allowed.'
                  : ask.kind === 'unknown-outcome'
                    ? 'Outcome unknown.'
                    : 'Denied.'}
            </strong>
            {ask.answer.by === undefined ? '' : ` By ${ask.answer.by}.`}
          </p>
        ) : null,
      )}
      {asked ? (
        <>
          <CallInput tool={call.tool} input={call.input} />
          <ApprovalForm
            session={session}
            question={{
              call: call.id,
              tool: call.tool,
              question: asked.question,
              ...(asked.kind ? { kind: asked.kind } : {}),
            }}
          />
        </>
      ) : (
        <CallDetails call={call} />
      )}
      {result && result.text !== '' ? (
        <LongText text={result.text} label={`the result of ${call.tool}`} isDiff={looksLikeDiff(result.text)} />
      ) : null}
      {result?.files.map((file, i) => (
        <FileView key={i} file={file} />
      ))}
    </section>
  );
}

/** Input and result; rendered when opened, because a long session has hundreds of calls. */
function CallDetails({ call: { tool, input, invalid, result } }: { readonly call: TimelineCall }): JSX.Element {
  const [isOpen, setOpen] = useState(false);
  return (
    <details onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        <span class="unseen">{tool}: </span>Details
      </summary>
      {isOpen ? (
        <>
          <h4>Input</h4>
          {invalid === undefined ? <CallInput tool={tool} input={input} /> : <LongText text={invalid} />}
          {result?.data === undefined ? null : (
            <>
              <h4>Data</h4>
              <LongText text={JSON.stringify(result.data, undefined, 2)} />
            </>
          )}
        </>
      ) : null}
    </details>
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

/** Returns the beginning of an input on one line. */
function formatCallSummary(input: Json): string {
  if (typeof input !== 'object' || input === null || Array.isArray(input)) return JSON.stringify(input).slice(0, 120);
  const first = Object.values(input).find((value) => typeof value === 'string');
  return (typeof first === 'string' ? first : JSON.stringify(input)).replaceAll(/\s+/g, ' ').slice(0, 120);
}

const imageTypes = /^image\/(png|jpeg|gif|webp)$/;

/** A file of a message: images are shown, other files by name; nothing is fetched from other hosts. */
export function FileView({ file }: { readonly file: FilePart }): JSX.Element {
  const name = file.name ?? file.mediaType;
  if (!imageTypes.test(file.mediaType) || !/^[\w+/=\s]+$/.test(file.data)) return <p class="file">File: {name}</p>;
  return <img class="picture" src={`data:${file.mediaType};base64,${file.data}`} alt={name} />;
}
