// A tool call drawn: exactly what is asked for, what a person is asked about it, and what came of it.
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { FilePart, Json } from '../../../src/core/index.ts';
import { count, duration } from '../text/format.ts';
import { Copy } from '../text/copy.tsx';
import { Visible } from '../text/markdown-view.tsx';
import { Answering } from './answering.tsx';
import { isHanded, openAsk, type CallItem } from './timeline.ts';

/** The input of a call, word for word: a lone text as it is, anything else as JSON. */
export function Input({ tool, input }: { readonly tool: string; readonly input: Json | undefined }): JSX.Element {
  const fields = typeof input === 'object' && input !== null && !Array.isArray(input) ? Object.entries(input) : [];
  const plain = fields.length > 0 && fields.every(([, value]) => typeof value !== 'object' || value === null);
  if (!plain)
    return (
      <pre class="code" tabIndex={0} aria-label={`Input of ${tool}`}>
        <Visible text={JSON.stringify(input ?? null, undefined, 2)} />
      </pre>
    );
  return (
    <dl class="input">
      {fields.map(([name, value]) => (
        <div key={name}>
          <dt>
            <Visible text={name} />
          </dt>
          <dd>
            <Long text={typeof value === 'string' ? value : JSON.stringify(value)} what={name} />
          </dd>
        </div>
      ))}
    </dl>
  );
}

const shownLines = 14;

type LongProps = { readonly text: string; readonly what?: string; readonly isDiff?: boolean };

/** A text that is shown in full on asking where it is long; `what` names it. */
export function Long({ text, what = 'this text', isDiff = false }: LongProps): JSX.Element {
  const [isOpen, setOpen] = useState(false);
  const lines = text.split('\n');
  const isLong = lines.length > shownLines + 4 || text.length > 6000;
  const shown = isLong && !isOpen ? lines.slice(0, shownLines).join('\n').slice(0, 4000) : text;
  return (
    <>
      <div class="copied">
        <pre class="code" tabIndex={0}>
          {isDiff ? shown.split('\n').map(diffLine) : <Visible text={shown} />}
        </pre>
        <Copy text={text} what={what} />
      </div>
      {isLong ? (
        <button type="button" class="quiet" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          {isOpen ? 'Show less' : lines.length > 1 ? `Show all ${count(lines.length)} lines` : 'Show all of it'}
        </button>
      ) : null}
    </>
  );
}

function diffLine(line: string, key: number): JSX.Element {
  const kind = /^\+(?!\+\+)/.test(line) ? 'added' : /^-(?!--)/.test(line) ? 'removed' : undefined;
  return (
    <span key={key} class={kind}>
      <Visible text={`${line}\n`} />
    </span>
  );
}

const looksLikeDiff = (text: string): boolean => /^@@ .* @@/m.test(text) || /^--- .*\n\+\+\+ /m.test(text);

/** A call with everything that is known of it. */
export function CallView({ call, session }: { readonly call: CallItem; readonly session: string }): JSX.Element {
  const asked = openAsk(call);
  const { result } = call;
  const state =
    result?.outcome ?? (asked ? 'asks' : isHanded(call) ? 'handed' : call.started === undefined ? 'waits' : 'runs');
  return (
    <section class={`call ${state}`} aria-label={`Call of ${call.tool}`}>
      <header>
        <span class="tool">
          <Visible text={call.tool} />
        </span>
        {asked ? null : (
          <span class="gist">
            <Visible text={gist(call.input)} />
          </span>
        )}
        <span class="state">
          {words[state] ?? state}
          {result ? ` · ${duration(result.ms)}` : ''}
        </span>
      </header>
      {call.asks.map((ask, i) =>
        ask.answer ? (
          <p key={i} class="answered">
            <Visible text={ask.question} />{' '}
            <strong>
              {ask.answer.happened
                ? 'It happened.'
                : ask.answer.allowed
                  ? ask.kind === 'unknown-outcome'
                    ? 'It did not happen: run again.'
                    : 'Allowed.'
                  : ask.kind === 'unknown-outcome'
                    ? 'Not known.'
                    : 'Refused.'}
            </strong>
            {ask.answer.by === undefined ? '' : ` By ${ask.answer.by}.`}
          </p>
        ) : null,
      )}
      {asked ? (
        <>
          <Input tool={call.tool} input={call.input} />
          <Answering
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
        <Details call={call} />
      )}
      {result && result.text !== '' ? (
        <Long text={result.text} what={`the result of ${call.tool}`} isDiff={looksLikeDiff(result.text)} />
      ) : null}
      {result?.files.map((file, i) => (
        <Picture key={i} file={file} />
      ))}
    </section>
  );
}

/** What went in and came out; drawn once it is opened, for a long session has hundreds of these. */
function Details({ call: { tool, input, invalid, result } }: { readonly call: CallItem }): JSX.Element {
  const [isOpen, setOpen] = useState(false);
  return (
    <details onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        <span class="unseen">{tool}: </span>Details
      </summary>
      {isOpen ? (
        <>
          <h4>Input</h4>
          {invalid === undefined ? <Input tool={tool} input={input} /> : <Long text={invalid} />}
          {result?.data === undefined ? null : (
            <>
              <h4>As data</h4>
              <Long text={JSON.stringify(result.data, undefined, 2)} />
            </>
          )}
        </>
      ) : null}
    </details>
  );
}

const words: Readonly<Record<string, string>> = {
  ok: 'done',
  failed: 'failed',
  denied: 'denied',
  interrupted: 'interrupted',
  unknown: 'outcome unknown',
  asks: 'waits for you',
  handed: 'with the client',
  waits: 'not begun',
  runs: 'under way',
};

/** The first words of an input, on one line. */
function gist(input: Json): string {
  if (typeof input !== 'object' || input === null || Array.isArray(input)) return JSON.stringify(input).slice(0, 120);
  const first = Object.values(input).find((value) => typeof value === 'string');
  return (typeof first === 'string' ? first : JSON.stringify(input)).replaceAll(/\s+/g, ' ').slice(0, 120);
}

const pictures = /^image\/(png|jpeg|gif|webp)$/;

/** A file of a message: pictures are shown, of others only the name; none is fetched from outside. */
export function Picture({ file }: { readonly file: FilePart }): JSX.Element {
  const name = file.name ?? file.mediaType;
  if (!pictures.test(file.mediaType) || !/^[\w+/=\s]+$/.test(file.data)) return <p class="file">A file: {name}</p>;
  return <img class="picture" src={`data:${file.mediaType};base64,${file.data}`} alt={name} />;
}
