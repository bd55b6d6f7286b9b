// The timeline drawn: each thing once, and again only when it changed.
import type { ComponentChildren, JSX } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import type { Message, Note, Usage } from '../../../src/core/index.ts';
import { clock, count, duration, money, percent, sentence, short } from '../text/format.ts';
import { Markdown, Visible } from '../text/markdown-view.tsx';
import { CallView, Long, Picture } from './call-view.tsx';
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
  return (
    <>
      {earlier > 0 ? (
        <button type="button" class="quiet" onClick={() => setMost(most + 4 * page)}>
          Show {Math.min(earlier, 4 * page)} of {earlier} earlier
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
            <Side what="assistant" time={undefined} />
            <div class="body">
              <Markdown text={live.text} />
            </div>
          </li>
        ) : null}
      </ol>
    </>
  );
}

/** A long session is drawn from its end: who wants its beginning asks for it. */
const page = 150;

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
            <Side what={item.how === 'prompt' ? 'you' : item.how} time={item.time} />
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
            <Side what={item.message.role === 'user' ? 'you' : item.message.role} time={undefined} />
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
            </p>
          </li>
        );
    }
  }, [item, acts.session, acts.fork, isLive, live]);
}

function Side({ what, time }: { readonly what: string; readonly time: string | undefined }): JSX.Element {
  return (
    <div class="side">
      <span class="who">{what}</span>
      {time === undefined ? null : <time dateTime={time}>{clock(time, Date.now())}</time>}
    </div>
  );
}

type Turn = Extract<Item, { type: 'turn' }>;

function TurnView({ item, acts, isLive, live }: Omit<Drawn, 'item'> & { readonly item: Turn }): JSX.Element {
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
        {item.message ? <Words message={item.message} /> : null}
        {isLive ? (
          live === undefined ? (
            <p class="waiting-dots">Waiting for the model</p>
          ) : (
            <Markdown text={live} />
          )
        ) : null}
        {item.message || item.failure || isLive ? null : <p class="hint">Broken off before its answer was whole.</p>}
        {item.failure ? (
          <div class="failed">
            {item.partial ? <Markdown text={item.partial} /> : null}
            <p>
              {sentence(item.failure.message)} {item.failure.hint} {item.failure.retry ? 'It is tried again.' : ''}
            </p>
          </div>
        ) : null}
        {item.calls.map((call) => (
          <CallView key={call.id} call={call} session={acts.session} />
        ))}
        <Costs item={item}>
          {acts.fork && item.message ? (
            <button type="button" class="quiet" onClick={() => acts.fork?.(item.at)}>
              Fork from here
            </button>
          ) : null}
        </Costs>
      </div>
    </li>
  );
}

function Words({ message }: { readonly message: Message }): JSX.Element {
  const text = message.parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n');
  return <>{text.trim() === '' ? null : <Markdown text={text} />}</>;
}

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

/** What was injected into the request, and under which name: the name says which rule put it there. */
function Notes({ notes }: { readonly notes: readonly Note[] }): JSX.Element | null {
  if (notes.length === 0) return null;
  return (
    <details class="notes">
      <summary>
        {notes.length === 1 ? '1 note' : `${notes.length} notes`} injected:{' '}
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
              {(note.priority ?? 0) >= 100 ? 'safety' : note.priority ? `priority ${note.priority}` : ''}
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
          <span title={`${count(usage.input ?? 0)} in, ${count(usage.output ?? 0)} out`}>
            {usage.input === undefined ? '?' : short(usage.input)} in,{' '}
            {usage.output === undefined ? '?' : short(usage.output)} out
          </span>
          <span>{cached(usage)}</span>
        </>
      ) : null}
      <span>{duration(item.ms)}</span>
      {item.model ? <span class="model">{item.model}</span> : null}
      {item.finish && item.finish !== 'stop' && item.finish !== 'tool-calls' ? (
        <span class="bad">{item.finish}</span>
      ) : null}
      {children}
    </footer>
  );
}

function cached({ input, cacheRead }: Usage): string {
  if (cacheRead === undefined || !input) return 'cache not told';
  return `${percent(Math.min(1, cacheRead / input))} cached`;
}
