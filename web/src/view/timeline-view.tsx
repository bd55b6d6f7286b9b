// The timeline drawn: each thing once, and again only when it changed.
import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { Message, Note, Usage } from '../../../src/core/index.ts';
import { clock, count, duration, moment, money, percent, sentence, short } from '../text/format.ts';
import { Copy } from '../text/copy.tsx';
import { Markdown, Visible } from '../text/markdown-view.tsx';
import { CallView, Long, Picture } from './call-view.tsx';
import { linkTo } from './route.ts';
import type { Item } from './timeline.ts';

/** What can be done at a turn. */
export type TurnActs = { readonly session: string; readonly fork?: ((event: string) => void) | undefined };

/** The things of a session in order, and the turn that is being said. */
export function TimelineView({
  items,
  live,
  acts,
}: {
  readonly items: readonly Item[];
  readonly live: { readonly turn: number; readonly text: string } | undefined;
  readonly acts: TurnActs;
}): JSX.Element {
  const [most, setMost] = useState(page);
  const last = items.at(-1);
  const isOpen = last?.type === 'turn' && last.message === undefined && last.failure === undefined;
  const earlier = items.length - most;
  useFollowing(live?.text);
  return (
    <>
      {earlier > 0 ? (
        <button type="button" class="quiet" onClick={() => setMost(most + 2 * page)}>
          Show {Math.min(earlier, 2 * page)} of {earlier} earlier
        </button>
      ) : null}
      <ol class="timeline" aria-busy={live !== undefined}>
        {items.slice(-most).map((item) => (
          <ItemView
            key={item.key}
            item={item}
            acts={acts}
            isLive={isOpen && item === last}
            live={isOpen && item === last ? live?.text : undefined}
          />
        ))}
        {live !== undefined && !isOpen ? (
          <li class="turn" key="live">
            <Side what="answer" time={undefined} />
            <div class="body">
              <Markdown text={live.text} />
            </div>
          </li>
        ) : null}
      </ol>
    </>
  );
}

/** Keeps the end of what streams in in sight, for who is at the end of the page; who has scrolled away is left there. */
function useFollowing(text: string | undefined): void {
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

/** A long session is drawn from its end: who wants its beginning asks for it. */
const page = 60;

type Drawn = {
  readonly item: Item;
  readonly acts: TurnActs;
  readonly isLive: boolean;
  readonly live: string | undefined;
};

function ItemView({ item, acts, isLive, live }: Drawn): JSX.Element {
  return useMemo(() => {
    switch (item.type) {
      case 'input':
        return (
          <li class={`said input ${item.delivered ? '' : 'waiting'}`}>
            <Side what={speakers[item.how] ?? item.how} time={item.time} />
            <div class="body">
              <Markdown text={item.text} />
              {item.files.map((file, i) => (
                <Picture key={i} file={file} />
              ))}
              {item.delivered ? null : <p class="hint">Not read yet.</p>}
            </div>
          </li>
        );
      case 'turn':
        return <TurnView item={item} acts={acts} isLive={isLive} live={live} />;
      case 'said':
        return (
          <li class={`said ${item.message.role === 'user' ? 'input' : ''}`}>
            <Side what={speakers[item.message.role] ?? item.message.role} time={undefined} />
            <div class="body">
              <MessageView message={item.message} />
            </div>
          </li>
        );
      case 'mark':
        return (
          <li class={`mark ${item.tone}`}>
            <Side what={item.what} time={item.time} />
            <p class="body">
              <Visible text={item.text} />
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
  }, [item, acts.session, acts.fork, isLive, live]);
}

const speakers: Readonly<Record<string, string>> = {
  prompt: 'you',
  user: 'you',
  steer: 'you, on the way',
  'follow-up': 'you, for after it',
  assistant: 'model',
};

function Side({ what, time }: { readonly what: string; readonly time: string | undefined }): JSX.Element {
  return (
    <div class="side">
      <h3 class="who">{what}</h3>
      {time === undefined ? null : (
        <time dateTime={time} title={moment(time)}>
          {clock(time, Date.now())}
        </time>
      )}
    </div>
  );
}

type Turn = Extract<Item, { type: 'turn' }>;

function TurnView({ item, acts, isLive, live }: Omit<Drawn, 'item'> & { readonly item: Turn }): JSX.Element {
  const words = item.message ? textOf(item.message) : isLive ? live : undefined;
  const thoughts = item.message?.parts.flatMap((part) => (part.type === 'reasoning' ? [part.text] : [])) ?? [];
  return (
    <li class="turn">
      <Side what={`turn ${item.turn}`} time={item.time} />
      <div class="body">
        <Notes notes={item.notes} />
        {thoughts.length > 0 && thoughts.join('').trim() !== '' ? (
          <details class="thoughts">
            <summary>Thoughts</summary>
            <Markdown text={thoughts.join('\n\n')} />
          </details>
        ) : null}
        {/* One place for the words, so that a long answer is not drawn anew once it is whole. */}
        {words === undefined || words.trim() === '' ? null : <Markdown key="words" text={words} />}
        {isLive && words === undefined ? <p class="waiting-dots">Waiting for the model</p> : null}
        {item.message || item.failure || isLive ? null : <p class="hint">Broken off before its answer was whole.</p>}
        {item.failure ? (
          <div class="failed">
            {item.partial ? <Markdown text={item.partial} /> : null}
            <p>
              <Visible text={sentence(item.failure.message)} /> {item.failure.hint}{' '}
              {item.failure.retry ? 'It is tried again.' : ''}
            </p>
          </div>
        ) : null}
        {item.calls.map((call) => (
          <CallView key={call.id} call={call} session={acts.session} />
        ))}
        <Costs item={item}>
          {item.message && words?.trim() ? <Copy text={words} what={`the words of turn ${item.turn}`} /> : null}
          {acts.fork && item.message ? (
            <button
              type="button"
              class="quiet"
              title="Begins another session as this one stood here"
              onClick={() => acts.fork?.(item.at)}
            >
              Fork from here
            </button>
          ) : null}
        </Costs>
      </div>
    </li>
  );
}

const textOf = (message: Message): string =>
  message.parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n');

/** A message that came with the history: its words, and its calls and results as they stand. */
function MessageView({ message }: { readonly message: Message }): JSX.Element {
  return (
    <>
      {message.parts.map((part, i): ComponentChildren => {
        if (part.type === 'text') return <Markdown key={i} text={part.text} />;
        if (part.type === 'file') return <Picture key={i} file={part} />;
        if (part.type === 'tool-call') return <Long key={i} text={`${part.tool} ${JSON.stringify(part.input)}`} />;
        return part.type === 'tool-result' ? <Long key={i} text={part.text} /> : null;
      })}
    </>
  );
}

/** What the model was told besides, and under which name: the name says which rule put it there. */
function Notes({ notes }: { readonly notes: readonly Note[] }): JSX.Element | null {
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
              <Visible text={note.text} />
            </dd>
          </div>
        ))}
      </dl>
    </details>
  );
}

/** What a turn took: money, tokens, how much of them came from the cache, time, model. */
function Costs({ item, children }: { readonly item: Turn; readonly children: ComponentChildren }): JSX.Element | null {
  if (item.ms === undefined) return null;
  const { usage } = item;
  return (
    <footer class="costs">
      {usage ? (
        <>
          <span>
            {item.usd === undefined ? 'cost not known' : `${item.estimated ? 'about ' : ''}${money(item.usd)}`}
          </span>
          <span title={`${exactly(usage.input)} tokens in, ${exactly(usage.output)} out`}>
            {usage.input === undefined ? '?' : short(usage.input)} in,{' '}
            {usage.output === undefined ? '?' : short(usage.output)} out
          </span>
          <span>{cached(usage)}</span>
        </>
      ) : null}
      <span>{duration(item.ms)}</span>
      {item.model ? <span class="model">{item.model}</span> : null}
      {item.finish && item.finish !== 'stop' && item.finish !== 'tool-calls' ? (
        <span class="bad">{finishes[item.finish] ?? item.finish}</span>
      ) : null}
      <span class="acts-here">{children}</span>
    </footer>
  );
}

const finishes: Readonly<Record<string, string>> = {
  length: 'cut short: the answer was as long as the model may make it',
  'content-filter': 'cut short by a filter of the provider',
};

const exactly = (tokens: number | undefined): string => (tokens === undefined ? 'unknown' : count(tokens));

function cached({ input, cacheRead }: Usage): string {
  if (cacheRead === undefined || !input) return 'cache not reported';
  return `${percent(Math.min(1, cacheRead / input))} from the cache`;
}
