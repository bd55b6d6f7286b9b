// What a tool call would do or has done: its input with aligned names, its change as a diff, its command.
import type { JSX } from 'preact';
import { useMemo } from 'preact/hooks';
import type { ApprovalPreview, Json } from '../../../src/core/index.ts';
import { isObject, unwrapCall } from '../text/call-summary.ts';
import { compareTexts, parseUnifiedDiff, type DiffLine } from '../text/diff.ts';
import { languageOfPath } from '../text/highlight.ts';
import { DiffView, LongText } from './code-view.tsx';
import { EscapedText } from './escaped-text.tsx';

/** The change of a call, as far as its input tells: the texts of an edit, or the content of a new file. */
export type CallChange = { readonly path: string; readonly lines: readonly DiffLine[] };

const textOf = (input: Readonly<Record<string, Json>>, ...names: readonly string[]): string | undefined =>
  names.map((name) => input[name]).find((value): value is string => typeof value === 'string');

/** Returns the change that a call asks for; undefined if its input is not an edit. */
export function getRequestedChange(wrappedTool: string, wrappedInput: Json | undefined): CallChange | undefined {
  const { tool, input } = unwrapCall(wrappedTool, wrappedInput ?? null);
  if (!isObject(input)) return undefined;
  const path = textOf(input, 'path', 'file_path') ?? '';
  const [before, after] = [textOf(input, 'old_string', 'old_text'), textOf(input, 'new_string', 'new_text')];
  if (before !== undefined && after !== undefined) return { path, lines: compareTexts(before, after) };
  const content = textOf(input, 'content');
  if (tool === 'write_file' && content !== undefined) return { path, lines: compareTexts('', content, 1) };
  const patch = textOf(input, 'patch', 'diff');
  return patch !== undefined && /^@@ -/m.test(patch) ? { path, lines: parseUnifiedDiff(patch) } : undefined;
}

/** Returns the change that a call has made, by the diff in its data. */
export function getMadeChange(data: Json | undefined): CallChange | undefined {
  if (!isObject(data) || typeof data['diff'] !== 'string') return undefined;
  return { path: typeof data['path'] === 'string' ? data['path'] : '', lines: parseUnifiedDiff(data['diff']) };
}

/** A change with the name of its file. */
export function ChangeView({ change: { path, lines } }: { readonly change: CallChange }): JSX.Element {
  return <DiffView lines={lines} label={`Change of ${path || 'a file'}`} language={languageOfPath(path)} />;
}

const languageOfField = (tool: string, name: string, input: Json): string => {
  if (name === 'command') return 'sh';
  if (name === 'content' && isObject(input)) return languageOfPath(textOf(input, 'path') ?? '');
  return name === 'code' ? (tool === 'run_code' ? 'js' : '') : '';
};

/** The exact input of a call: an edit as a diff, fields with aligned names, anything else as JSON. */
export function CallInput({
  tool: wrappedTool,
  input: wrappedInput,
}: {
  readonly tool: string;
  readonly input: Json | undefined;
}): JSX.Element {
  const { tool, input } = unwrapCall(wrappedTool, wrappedInput ?? null);
  const change = useMemo(() => getRequestedChange(tool, input), [tool, input]);
  const fields = isObject(input) ? Object.entries(input) : [];
  const isPlain = fields.length > 0 && fields.every(([, value]) => typeof value !== 'object' || value === null);
  if (!isPlain && !change)
    return <LongText text={JSON.stringify(input, undefined, 2)} label={`the input of ${tool}`} language="json" />;
  const shown = change ? fields.filter(([name]) => !changeFields.has(name)) : fields;
  return (
    <>
      {shown.length > 0 ? (
        <dl class="fields-list">
          {shown.map(([name, value]) => (
            <div key={name}>
              <dt>
                <EscapedText text={name} />
              </dt>
              <dd>{renderFieldValue(value, name, languageOfField(tool, name, input))}</dd>
            </div>
          ))}
        </dl>
      ) : null}
      {change ? <ChangeView change={change} /> : null}
    </>
  );
}

const changeFields: ReadonlySet<string> = new Set([
  'old_string',
  'new_string',
  'old_text',
  'new_text',
  'content',
  'patch',
  'diff',
]);

/** Short values are text; code and long values are blocks. */
function renderFieldValue(value: Json, name: string, language: string): JSX.Element {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  if (language !== '' || text.includes('\n') || text.length > 160)
    return <LongText text={text} label={name} language={language} />;
  return (
    <code class="field-value">
      <EscapedText text={text} />
    </code>
  );
}

/** The preview that the server made of a call: the real diff of each file, or the exact command with its effects. */
export function PreviewView({ preview }: { readonly preview: ApprovalPreview }): JSX.Element {
  const { files = [], command, call, notes, warning } = preview;
  return (
    <>
      {files.map((file) => (
        <section key={file.path} class="preview-file" aria-label={file.path}>
          <p class="preview-name">
            <code>
              <EscapedText text={file.path} />
            </code>
            <span class="hint">{fileChangeLabels[file.change] ?? file.change}</span>
            <span class="count added">+{file.added}</span>
            <span class="count removed">−{file.removed}</span>
          </p>
          <ChangeView change={{ path: file.path, lines: parseUnifiedDiff(file.diff) }} />
        </section>
      ))}
      {command ? (
        <>
          <LongText text={command.line} label="the command" language="sh" />
          <ul class="effects">
            <li>
              In{' '}
              <code>
                <EscapedText text={command.folder} />
              </code>
              , <EscapedText text={command.sandbox} />
            </li>
            {command.effects.map((effect) => (
              <li key={effect}>
                <EscapedText text={effect} />
              </li>
            ))}
          </ul>
        </>
      ) : null}
      {call ? <CallInput tool={call.tool} input={call.input} /> : null}
      {notes.length > 0 ? (
        <ul class="effects">
          {notes.map((note) => (
            <li key={note}>
              <EscapedText text={note} />
            </li>
          ))}
        </ul>
      ) : null}
      {warning ? (
        <section class="preview-warning" aria-label="Warning">
          <p>
            <EscapedText text={warning.reason} />
          </p>
          <dl>
            {warning.rows.map(({ name, text }, index) => (
              // Rows have no identity of their own, and never change.
              <div key={index}>
                <dt>
                  <EscapedText text={name} />
                </dt>
                <dd>
                  <EscapedText text={text} />
                </dd>
              </div>
            ))}
          </dl>
        </section>
      ) : null}
    </>
  );
}

const fileChangeLabels: Readonly<Record<string, string>> = { create: 'new file', edit: 'edit', delete: 'delete' };
