// Renders the timeline of a session; items render again only if they change.
import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { Message, Note, Usage } from '../../../src/core/index.ts';
import {
  formatTime,
  formatCount,
  formatDuration,
  formatDateTime,
  formatUsd,
  formatPercent,
  ensurePeriod,
  formatCompact,
} from '../text/format.ts';
import { CopyButton } from './copy-button.tsx';
import { Markdown, EscapedText } from './markdown-view.tsx';
import { CallView, LongText, FileView } from './call-view.tsx';
import { linkTo } from '../state/router.ts';
import type { TimelineItem } from '../state/timeline.ts';

/** The actions of a turn. */
export type TurnActions = { readonly session: string; readonly fork?: ((event: string) => void) | undefined };

/** The items of a session in order, and the turn that is streaming. */
export function TimelineView({
  items,
  live,
  acts,
}: {
  readonly items: readonly TimelineItem[];
  readonly live: { readonly turn: number; readonly text: string } | undefined;
  readonly acts: TurnActions;
}): JSX.Element {
  const [most, setMost] = useState(itemPageSize);
  const last = items.at(-1);
  const isOpen = last?.type === 'turn' && last.message === undefined && last.failure === undefined;
  const earlier = items.length - most;
  useAutoScroll(live?.text);
  return (
    <>
      {earlier > 0 ? (
        <button type="button" class="quiet" onClick={() => setMost(most + 2 * itemPageSize)}>
          Show {Math.min(earlier, 2 * itemPageSize)} of {earlier} earlier items
        </button>
      ) : null}
      <ol class="timeline" aria-busy={live !== undefined}>
        {items.slice(-most).map((item) => (
          <ItemView
            key={item.key}
            item={item}
            actions={acts}
            isLive={isOpen && item === last}
            live={isOpen && item === last ? live?.text : undefined}
          />
        ))}
        {live !== undefined && !isOpen ? (
          <li class="turn" key="live">
            <ItemHeader what="answer" time={undefined} />
            <div class="body">
              <Markdown text={live.text} />
            </div>
          </li>
        ) : null}
      </ol>
    </>
  );
}

/** Scrolls with the streamed text if the user is at the end of the page. */
function useAutoScroll(text: string | undefined): void {
  const isAtEnd = useRef(true);
  useEffect(() => {
    const look = (): void => {
      isAtEnd.current = document.documentElement.scrollHeight - innerHeight - scrollY < 60;
    };
    look();
    addEventListener('scroll', look, { passive: true });
    return () => removeEventListener('scroll', look);
  }, []);
  useLayoutEffect(() => {
    if (text !== undefined && isAtEnd.current) scrollTo(0, document.documentElement.scrollHeight);
  }, [text]);
}

/** The number of items that are rendered first, from the end of a long session. */
const itemPageSize = 60;

type ItemViewProps = {
  readonly item: TimelineItem;
  readonly actions: TurnActions;
  readonly isLive: boolean;
  readonly live: string | undefined;
};

function ItemView({ item, actions, isLive, live }: ItemViewProps): JSX.Element {
  return useMemo(() => {
    switch (item.type) {
      case 'input':
        return (
          <li class={`said input ${item.delivered ? '' : 'waiting'}`}>
            <ItemHeader what={speakerLabels[item.how] ?? item.how} time={item.time} />
            <div class="body">
              <Markdown text={item.text} />
              {item.files.map((file, i) => (
                <FileView key={i} file={file} />
              ))}
              {item.delivered ? null : <p class="hint">Not delivered yet.</p>}
            </div>
          </li>
        );
      case 'turn':
        return <TurnView item={item} actions={actions} isLive={isLive} live={live} />;
      case 'message':
        return (
          <li class={`said ${item.message.role === 'user' ? 'input' : ''}`}>
            <ItemHeader what={speakerLabels[item.message.role] ?? item.message.role} time={undefined} />
            <div class="body">
              <MessageView message={item.message} />
            </div>
          </li>
        );
      case 'mark':
        return (
          <li class={`mark ${item.tone}`}>
            <ItemHeader what={item.what} time={item.time} />
            <p class="body">
              <EscapedText text={item.text} />
              {item.session === undefined ? null : (
                <>
                  {' '}
                  <a href={linkTo('sessions', item.session)}>session {item.session.slice(0, 8)}</a>
                </>
              )}
            </p>
          </li>
        );
    }
  }, [item, actions.session, actions.fork, isLive, live]);
}

const speakerLabels: Readonly<Record<string, string>> = {
  prompt: 'you',
  user: 'you',
  steer: 'you (steering)',
  'follow-up': 'you (follow-up)',
  assistant: 'model',
};

function ItemHeader({ what, time }: { readonly what: string; readonly time: string | undefined }): JSX.Element {
  return (
    <div class="side">
      <h3 class="who">{what}</h3>
      {time === undefined ? null : (
        <time dateTime={time} title={formatDateTime(time)}>
          {formatTime(time, Date.now())}
        </time>
      )}
    </div>
  );
}

type TurnItem = Extract<TimelineItem, { type: 'turn' }>;

function TurnView({
  item,
  actions,
  isLive,
  live,
}: Omit<ItemViewProps, 'item'> & { readonly item: TurnItem }): JSX.Element {
  const words = item.message ? getMessageText(item.message) : isLive ? live : undefined;
  const reasoning = item.message?.parts.flatMap((part) => (part.type === 'reasoning' ? [part.text] : [])) ?? [];
  return (
    <li class="turn">
      <ItemHeader what={`turn ${item.turn}`} time={item.time} />
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
          <CallView key={call.id} call={call} session={actions.session} />
        ))}
        <TurnCost item={item}>
          {item.message && words?.trim() ? <CopyButton text={words} what={`the text of turn ${item.turn}`} /> : null}
          {actions.fork && item.message ? (
            <button
              type="button"
              class="quiet"
              title="Creates a session with the history up to here"
              onClick={() => actions.fork?.(item.at)}
            >
              Fork from here
            </button>
          ) : null}
        </TurnCost>
      </div>
    </li>
  );
}

const getMessageText = (message: Message): string =>
  message.parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n');

/** A message of the history that a session started with. */
function MessageView({ message }: { readonly message: Message }): JSX.Element {
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
  children,
}: {
  readonly item: TurnItem;
  readonly children: ComponentChildren;
}): JSX.Element | null {
  if (item.ms === undefined) return null;
  const { usage } = item;
  return (
    <footer class="costs">
      {usage ? (
        <>
          <span>
            {item.usd === undefined ? 'cost unknown' : `${item.estimated ? 'about ' : ''}${formatUsd(item.usd)}`}
          </span>
          <span title={`${formatExactCount(usage.input)} tokens in, ${formatExactCount(usage.output)} out`}>
            {usage.input === undefined ? '?' : formatCompact(usage.input)} in,{' '}
            {usage.output === undefined ? '?' : formatCompact(usage.output)} out
          </span>
          <span>{formatCacheShare(usage)}</span>
        </>
      ) : null}
      <span>{formatDuration(item.ms)}</span>
      {item.model ? <span class="model">{item.model}</span> : null}
      {item.finish && item.finish !== 'stop' && item.finish !== 'tool-calls' ? (
        <span class="bad">{finishReasonLabels[item.finish] ?? item.finish}</span>
      ) : null}
      <span class="acts-here">{children}</span>
    </footer>
  );
}

const finishReasonLabels: Readonly<Record<string, string>> = {
  length: 'truncated: the answer reached the max output length',
  'content-filter': 'truncated by the content filter of the provider',
};

const formatExactCount = (tokens: number | undefined): string =>
  tokens === undefined ? 'unknown' : formatCount(tokens);

function formatCacheShare({ input, cacheRead }: Usage): string {
  if (cacheRead === undefined || !input) return 'cache not reported';
  return `${formatPercent(Math.min(1, cacheRead / input))} from the cache`;
}
