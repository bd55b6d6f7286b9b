// Renders the timeline of a session; items render again only if they change.
import type { JSX } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import { EscapedText } from './escaped-text.tsx';
import { Markdown } from './markdown-view.tsx';
import { FileView } from './call-view.tsx';
import { ItemHeader } from './item-header.tsx';
import { MessageView, TurnView, type TurnActions } from './turn-view.tsx';
import { linkTo } from '../state/router.ts';
import type { TimelineItem } from '../state/timeline.ts';

/** The number of items that are rendered first, from the end of a long session. */
const itemPageSize = 80;

/** The items of a session in order, and the turn that is streaming. The last message of the user is always among them. */
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
  const earlier = Math.max(0, items.length - most);
  const question = items.findLastIndex((item) => item.type === 'input' && item.by === undefined);
  const pinned = question >= 0 && question < earlier ? items[question] : undefined;
  return (
    <>
      {pinned ? (
        <ol class="timeline">
          <ItemView item={pinned} actions={acts} isLive={false} live={undefined} />
        </ol>
      ) : null}
      {earlier > 0 ? (
        <button type="button" class="quiet earlier" onClick={() => setMost(most + 2 * itemPageSize)}>
          Show {Math.min(earlier, 2 * itemPageSize)} of {earlier} earlier items
        </button>
      ) : null}
      <ol class="timeline" aria-busy={live !== undefined}>
        {items.slice(earlier).map((item) => (
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
            <ItemHeader icon="model" what="Model" time={undefined} />
            <div class="body">
              <Markdown text={live.text} />
            </div>
          </li>
        ) : null}
      </ol>
    </>
  );
}

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
        return <InputView item={item} />;
      case 'turn':
        return <TurnView item={item} actions={actions} isLive={isLive} live={live} />;
      case 'message':
        return (
          <li class={`said ${item.message.role === 'user' ? 'input' : ''}`}>
            <ItemHeader
              icon={item.message.role === 'user' ? 'user' : item.message.role === 'tool' ? 'tool' : 'model'}
              what={speakerLabels[item.message.role] ?? item.message.role}
              time={undefined}
            />
            <div class="body">
              <MessageView message={item.message} />
            </div>
          </li>
        );
      case 'mark':
        return (
          <li class={`mark ${item.tone}`}>
            <ItemHeader
              icon={item.tone === 'bad' ? 'alert' : item.tone === 'good' ? 'check' : 'fork'}
              what={item.what}
              time={item.time}
            />
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
  }, [item, actions.session, actions.fork, actions.model, isLive, live]);
}

type InputItem = Extract<TimelineItem, { type: 'input' }>;

/** A message of the user. The text of a hook or of the program is labelled as such, and closed. */
function InputView({ item }: { readonly item: InputItem }): JSX.Element {
  const isOwn = item.by === undefined;
  const text = <Markdown text={item.text} />;
  return (
    <li class={`said ${isOwn ? 'input' : 'added'} ${item.delivered ? '' : 'waiting'}`} data-question={isOwn}>
      <ItemHeader
        icon={isOwn ? 'user' : item.by === 'hook' ? 'hook' : 'settings'}
        what={item.by === undefined ? (speakerLabels[item.how] ?? item.how) : sourceLabels[item.by]}
        time={item.time}
      />
      <div class="body">
        {isOwn ? (
          text
        ) : (
          <details>
            <summary>
              <EscapedText text={item.text.replaceAll(/\s+/g, ' ').trim().slice(0, 120)} />
            </summary>
            {text}
          </details>
        )}
        {item.files.map((file, i) => (
          <FileView key={i} file={file} />
        ))}
        {item.delivered ? null : <p class="hint">Not delivered yet.</p>}
      </div>
    </li>
  );
}

const sourceLabels = { agent: 'Agent', hook: 'Hook', program: 'Note' } as const;

const speakerLabels: Readonly<Record<string, string>> = {
  prompt: 'You',
  user: 'You',
  steer: 'You (while running)',
  'follow-up': 'You (follow-up)',
  assistant: 'Model',
  tool: 'Tool result',
};
