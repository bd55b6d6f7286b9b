// Renders a turn of a session: notes, reasoning, text, tool calls and cost.
import type { ComponentChildren, JSX } from 'preact';
import type { Message, Note, Usage } from '../../../src/core/index.ts';
import { formatCount, formatDuration, formatUsd, formatPercent, ensurePeriod, formatCompact } from '../text/format.ts';
import { formatRetry } from '../text/format-retry.ts';
import type { TimelineItem } from '../state/timeline.ts';
import { CallView, FileView } from './call-view.tsx';
import { LongText } from './code-view.tsx';
import { CopyButton } from './copy-button.tsx';
import { EscapedText } from './escaped-text.tsx';
import { Icon } from './icon.tsx';
import { ItemHeader } from './item-header.tsx';
import { Markdown } from './markdown-view.tsx';

/** The actions of a turn; without a session, approvals cannot be answered here. */
export type TurnActions = {
  readonly session?: string | undefined;
  readonly fork?: ((event: string) => void) | undefined;
  /** The model of the session. */
  readonly model?: string;
};

type TurnItem = Extract<TimelineItem, { type: 'turn' }>;

type TurnViewProps = {
  readonly item: TurnItem;
  readonly actions: TurnActions;
  readonly isLive: boolean;
  readonly live: string | undefined;
};

/** A turn: the text of the model, its tool calls and its cost. */
export function TurnView({ item, actions, isLive, live }: TurnViewProps): JSX.Element {
  const written = item.message ? getMessageText(item.message) : isLive ? live : undefined;
  const words = item.checked ?? written;
  const reasoning = item.message?.parts.flatMap((part) => (part.type === 'reasoning' ? [part.text] : [])) ?? [];
  return (
    <li class="turn">
      <ItemHeader icon="model" what={`Turn ${item.turn}`} time={item.time}>
        <TurnCost item={item} sessionModel={actions.model}>
          {item.message && words?.trim() ? <CopyButton text={words} what={`the text of turn ${item.turn}`} /> : null}
          {actions.fork && item.message ? (
            <button
              type="button"
              class="quiet"
              title="Creates a session with the history up to here"
              onClick={() => actions.fork?.(item.at)}
            >
              <Icon name="fork" size={14} /> <span class="act-name">Fork from here</span>
            </button>
          ) : null}
        </TurnCost>
      </ItemHeader>
      <div class="body">
        <TurnNotes notes={item.notes} />
        {reasoning.length > 0 && reasoning.join('').trim() !== '' ? (
          <details class="thoughts">
            <summary>Reasoning</summary>
            <Markdown text={reasoning.join('\n\n')} />
          </details>
        ) : null}
        {/* The same element for streamed and final text, so that a long answer is not rendered again when it is complete. */}
        {words === undefined || words.trim() === '' ? null : <Markdown key="words" text={words} />}
        {item.isDraft === true && item.checked === undefined && words?.trim() ? (
          <p class="hint">A draft: it is not verified.</p>
        ) : null}
        {item.checked === undefined || written === undefined ? null : (
          <details class="thoughts">
            <summary>As the model wrote it</summary>
            <Markdown text={written} />
          </details>
        )}
        {(item.retries ?? []).map((retry, i) => (
          <p key={i} class="retry">
            <Icon name="refresh" size={14} /> <EscapedText text={formatRetry(retry)} />
          </p>
        ))}
        {isLive && words === undefined ? <p class="waiting-dots">Waiting for the model</p> : null}
        {item.message || item.failure || isLive ? null : (
          <p class="hint">Interrupted before the answer was complete.</p>
        )}
        {item.failure ? (
          <div class="failed">
            {item.partial ? <Markdown text={item.partial} /> : null}
            <p>
              <EscapedText text={ensurePeriod(item.failure.message)} /> {item.failure.hint}{' '}
              {item.failure.retry ? 'Retrying.' : ''}
            </p>
          </div>
        ) : null}
        {item.calls.map((call) => (
          <CallView
            key={call.id}
            call={call}
            {...(actions.session === undefined ? {} : { session: actions.session })}
          />
        ))}
      </div>
    </li>
  );
}

const getMessageText = (message: Message): string =>
  message.parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n');

/** A message of the history that a session started with. */
export function MessageView({ message }: { readonly message: Message }): JSX.Element {
  return (
    <>
      {message.parts.map((part, i): ComponentChildren => {
        if (part.type === 'text') return <Markdown key={i} text={part.text} />;
        if (part.type === 'file') return <FileView key={i} file={part} />;
        if (part.type === 'tool-call') return <LongText key={i} text={`${part.tool} ${JSON.stringify(part.input)}`} />;
        return part.type === 'tool-result' ? <LongText key={i} text={part.text} /> : null;
      })}
    </>
  );
}

/** A note that a rule added for the model, with the name of the rule. */
function TurnNotes({ notes }: { readonly notes: readonly Note[] }): JSX.Element | null {
  if (notes.length === 0) return null;
  return (
    <details class="notes">
      <summary>
        {notes.length === 1 ? '1 note' : `${notes.length} notes`} added for the model by{' '}
        {notes
          .map(({ key }) => key)
          .join(', ')
          .slice(0, 120)}
      </summary>
      <dl>
        {notes.map((note) => (
          <div key={note.key}>
            <dt>
              <code>{note.key}</code>{' '}
              {(note.priority ?? 0) >= 100 ? 'for safety' : note.priority ? `priority ${note.priority}` : ''}
            </dt>
            <dd>
              <EscapedText text={note.text} />
            </dd>
          </div>
        ))}
      </dl>
    </details>
  );
}

/** The cost of a turn: money, tokens, cached share, time, model. */
function TurnCost({
  item,
  sessionModel,
  children,
}: {
  readonly item: TurnItem;
  /** The model of the session, which is shown above it. */
  readonly sessionModel: string | undefined;
  readonly children: ComponentChildren;
}): JSX.Element | null {
  if (item.ms === undefined) return null;
  const { usage } = item;
  return (
    <div class="costs">
      {usage ? (
        <>
          <span>
            {item.usd === undefined ? 'cost unknown' : `${item.estimated ? 'about ' : ''}${formatUsd(item.usd)}`}
          </span>
          <span title={`${formatExactCount(usage.input)} tokens in, ${formatExactCount(usage.output)} out`}>
            {usage.input === undefined ? '?' : formatCompact(usage.input)} in,{' '}
            {usage.output === undefined ? '?' : formatCompact(usage.output)} out
          </span>
          {usage.cacheRead === undefined || !usage.input ? null : <span>{formatCacheShare(usage)}</span>}
        </>
      ) : null}
      <span>{formatDuration(item.ms)}</span>
      {item.model && item.model !== sessionModel ? <span class="model">{item.model}</span> : null}
      {item.finish && item.finish !== 'stop' && item.finish !== 'tool-calls' ? (
        <span class="bad">{finishReasonLabels[item.finish] ?? item.finish}</span>
      ) : null}
      <span class="acts-here">{children}</span>
    </div>
  );
}

const finishReasonLabels: Readonly<Record<string, string>> = {
  length: 'truncated: the answer reached the max output length',
  'content-filter': 'truncated by the content filter of the provider',
};

const formatExactCount = (tokens: number | undefined): string =>
  tokens === undefined ? 'unknown' : formatCount(tokens);

const formatCacheShare = ({ input = 1, cacheRead = 0 }: Usage): string =>
  `${formatPercent(Math.min(1, cacheRead / input))} from the cache`;
