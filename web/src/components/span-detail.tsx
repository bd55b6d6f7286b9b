// The detail of a selected span: times, cost, attributes, events, arguments and result, and the request of a model call.
import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { Span } from '../../../src/tracing/index.ts';
import { api } from '../api/client.ts';
import type { TraceRow } from '../state/trace-rows.ts';
import { formatCount, formatDateTime, formatDuration, formatUsd } from '../text/format.ts';
import { LongText } from './code-view.tsx';
import { EscapedText } from './escaped-text.tsx';
import { Icon } from './icon.tsx';
import { RequestView, type RequestSource } from './request-view.tsx';
import { formatSpanLabel, spanIcons } from './trace-tree.tsx';

type SpanDetailProps = { readonly row: TraceRow; readonly source: RequestSource; readonly close: () => void };

/** The detail; its texts are loaded when the selection stays for a moment. */
export function SpanDetail({ row, source, close }: SpanDetailProps): JSX.Element {
  const { span } = row;
  const full = useFullSpan(source, span);
  const [isRequestOpen, setRequestOpen] = useState(false);
  useEffect(() => setRequestOpen(false), [span.spanId]);
  const { name } = formatSpanLabel(span, Date.now());
  const { arguments: input, result, explanation } = full.content ?? {};
  const { turn } = span.details;
  return (
    <section class="span-detail" aria-label="Selected span">
      <header>
        <Icon name={spanIcons[span.kind]} />
        <h3>
          <EscapedText text={name} />
        </h3>
        <button type="button" class="quiet small" onClick={close}>
          <Icon name="close" size={12} /> Close
        </button>
      </header>
      {full.errorMessage === undefined ? null : (
        <p class="failed">
          <EscapedText text={full.errorMessage} />
        </p>
      )}
      {explanation === undefined ? null : (
        <p class="explanation">
          <EscapedText text={explanation} />
        </p>
      )}
      <dl class="span-attributes">
        {listAttributes(row).map(([key, value]) => (
          <div key={key}>
            <dt>{key}</dt>
            <dd>
              <EscapedText text={value} />
            </dd>
          </div>
        ))}
      </dl>
      {(span.events ?? []).map(({ name: event, time, attributes }, i) => (
        <p key={i} class="span-event hint">
          {event} {formatDateTime(new Date(time).toISOString())}{' '}
          <EscapedText
            text={Object.entries(attributes)
              .map(([key, value]) => `${key}: ${value}`)
              .join(', ')}
          />
        </p>
      ))}
      {input === undefined ? null : (
        <details open>
          <summary>Arguments</summary>
          <LongText text={JSON.stringify(input, undefined, 2)} label="the arguments" language="json" />
        </details>
      )}
      {result === undefined ? null : (
        <details>
          <summary>Result</summary>
          <LongText text={result} label="the result" />
        </details>
      )}
      {span.kind === 'model' && turn !== undefined ? (
        <>
          <button type="button" aria-expanded={isRequestOpen} onClick={() => setRequestOpen(!isRequestOpen)}>
            Request as sent
          </button>
          {isRequestOpen ? <RequestView source={{ ...source, session: span.session }} turn={turn} /> : null}
        </>
      ) : null}
    </section>
  );
}

/** Milliseconds until the texts of a selected span are loaded: the arrow keys pass many. */
const settleMs = 250;

function useFullSpan({ source, session }: RequestSource, span: Span): Span {
  const [full, setFull] = useState<Span | undefined>(undefined);
  useEffect(() => {
    const stop = new AbortController();
    const load = async (): Promise<void> => {
      const { spans } = await api.trace(source, session, { span: span.spanId }, stop.signal);
      setFull(spans[0]);
    };
    // Without its texts the span is shown as it is in the list.
    const timer = setTimeout(() => void load().catch(() => undefined), settleMs);
    return () => {
      stop.abort();
      clearTimeout(timer);
    };
  }, [source, session, span.spanId, span.end]);
  return full?.spanId === span.spanId ? full : span;
}

const attributeNames: Readonly<Record<string, string>> = {
  run: 'Run',
  turn: 'Turn',
  agent: 'Agent',
  stopReason: 'Stop reason',
  isSubagent: 'Sub-agent',
  requestModel: 'Requested model',
  responseModel: 'Model',
  provider: 'Provider',
  host: 'Host',
  finishReason: 'Finish reason',
  isEstimated: 'Cost is estimated',
  isCompacted: 'Compacted history',
  tool: 'Tool',
  call: 'Call',
  key: 'Idempotency key',
  mcpServer: 'MCP server',
  outcome: 'Outcome',
  gate: 'Gate',
  check: 'Check',
  step: 'Step',
  cacheRead: 'Read from cache',
  cacheWrite: 'Written to cache',
  input: 'Input tokens',
  output: 'Output tokens',
  reasoning: 'Reasoning tokens',
};

/** The attributes of a span as names and texts. */
export function listAttributes({
  span,
  cost,
}: Pick<TraceRow, 'span' | 'cost'>): readonly (readonly [string, string])[] {
  const { start, end, error, details, session, spanId, traceId } = span;
  const { usage = {}, usd: _, ...named } = details;
  const tokens = Object.entries(usage).filter((entry): entry is [string, number] => typeof entry[1] === 'number');
  return [
    ['Start', formatDateTime(new Date(start).toISOString())],
    ['Duration', end === undefined ? 'not ended' : formatDuration(end - start)],
    ...(error === undefined ? [] : [['Error', error] as const]),
    ...(cost.usd === undefined ? [] : [['Cost', formatUsd(cost.usd)] as const]),
    ...tokens.map(([key, count]) => [attributeNames[key] ?? key, formatCount(count)] as const),
    ...Object.entries(named).map(([key, value]) => [attributeNames[key] ?? key, formatAttribute(value)] as const),
    ['Session', session],
    ['Span', spanId],
    ['Trace', traceId],
  ];
}

function formatAttribute(value: unknown): string {
  if (value === true) return 'yes';
  if (typeof value !== 'object' || value === null) return String(value);
  return Object.entries(value)
    .map(([key, each]) => `${key}: ${String(each)}`)
    .join(', ');
}
