// Code and diffs with syntax colours; invisible characters are escaped and marked.
import type { JSX } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import { CopyButton } from './copy-button.tsx';
import { EscapedText } from './escaped-text.tsx';
import { formatCount } from '../text/format.ts';
import { splitTokenLines, tokenize, type CodeToken } from '../text/highlight.ts';
import type { DiffLine } from '../text/diff.ts';

/** Code in the colours of its language. */
export function CodeText({ text, language }: { readonly text: string; readonly language: string }): JSX.Element {
  const tokens = useMemo(() => tokenize(text, language), [text, language]);
  return <>{tokens.map(renderToken)}</>;
}

const renderToken = ({ kind, text }: CodeToken, key: number): JSX.Element =>
  kind === 'text' ? (
    <EscapedText key={key} text={text} />
  ) : (
    <span key={key} class={`token-${kind}`}>
      <EscapedText text={text} />
    </span>
  );

const previewLines = 18;

type LongTextProps = { readonly text: string; readonly label?: string; readonly language?: string };

/** A text that is collapsed if it is long; `label` names it for screen readers. */
export function LongText({ text, label = 'this text', language = '' }: LongTextProps): JSX.Element {
  const [isOpen, setOpen] = useState(false);
  const lines = text.split('\n');
  const isLong = lines.length > previewLines + 6 || text.length > 6000;
  const shown = isLong && !isOpen ? lines.slice(0, previewLines).join('\n').slice(0, 4000) : text;
  return (
    <>
      <div class="copied">
        <pre class="code" tabIndex={0}>
          <CodeText text={shown} language={language} />
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

const maxDiffLines = 400;
const signs = { same: ' ', added: '+', removed: '−', gap: '' } as const;

type DiffViewProps = { readonly lines: readonly DiffLine[]; readonly label: string; readonly language?: string };

/** A diff: each line with its number, a sign that does not depend on colour, and syntax colours. */
export function DiffView({ lines, label, language = '' }: DiffViewProps): JSX.Element {
  const [isOpen, setOpen] = useState(false);
  const shown = isOpen ? lines : lines.slice(0, maxDiffLines);
  const coloured = useMemo(
    () => splitTokenLines(tokenize(lines.map(({ text }) => text).join('\n'), language)),
    [lines, language],
  );
  const hasNumbers = lines.some(({ before, after }) => before !== undefined || after !== undefined);
  return (
    <>
      <div class={`diff ${hasNumbers ? '' : 'unnumbered'}`} tabIndex={0} role="region" aria-label={label}>
        {shown.map((line, i) =>
          line.kind === 'gap' ? (
            <div key={i} class="diff-line gap">
              {line.text || '⋯'}
            </div>
          ) : (
            <div key={i} class={`diff-line ${line.kind}`}>
              {hasNumbers ? (
                <>
                  <span class="diff-number">{line.before}</span>
                  <span class="diff-number">{line.after}</span>
                </>
              ) : null}
              <span class="diff-sign">{signs[line.kind]}</span>
              <span class="diff-text">{(coloured[i] ?? []).map(renderToken)}</span>
            </div>
          ),
        )}
      </div>
      {lines.length > maxDiffLines && !isOpen ? (
        <button type="button" class="quiet" onClick={() => setOpen(true)}>
          Show all {formatCount(lines.length)} lines
        </button>
      ) : null}
    </>
  );
}
