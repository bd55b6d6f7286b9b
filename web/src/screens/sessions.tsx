// Sessions: each a log, the one that changed last first.
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { count } from '../text/format.ts';
import { Visible } from '../text/markdown-view.tsx';
import { Empty, Failed, Table, Title, When } from '../view/parts.tsx';
import { usePoll } from '../view/poll.ts';
import { linkTo } from '../view/route.ts';
import { api } from '../wire/api.ts';

const titleOf = (words: string): string => words.replaceAll(/\s+/g, ' ').slice(0, 140);

/** The screen that lists sessions. */
export function SessionsScreen(): JSX.Element {
  const [most, setMost] = useState(50);
  const { value, failed } = usePoll((signal) => api.sessions({ most }, signal), 5000, String(most));
  const runs = usePoll((signal) => api.runs({ most }, signal), 5000, String(most)).value?.runs ?? [];
  // The latest run comes first, so that what a session was begun with is what stays.
  const begunWith = new Map(runs.map(({ session, words }) => [session, words]));
  return (
    <>
      <Title>Sessions</Title>
      <Failed failed={failed} />
      {value?.sessions.length === 0 ? (
        <Empty title="No sessions yet.">
          <p>
            Every run writes one. Begin a run in <a href={linkTo('ask')}>Ask</a>.
          </p>
        </Empty>
      ) : (
        <Table
          caption="Sessions, the one that changed last first"
          head={['Session', '#Events', 'Changed', 'Begun', 'Held by']}
        >
          {(value?.sessions ?? []).map((each) => (
            <tr key={each.session}>
              <td class="words">
                <a href={linkTo('sessions', each.session)}>
                  <Visible text={titleOf(each.name ?? begunWith.get(each.session) ?? each.session)} />
                </a>
              </td>
              <td class="number">{count(each.events)}</td>
              <td>
                <When time={each.changed} />
              </td>
              <td>
                <When time={each.begun} />
              </td>
              <td>{each.holder ?? ''}</td>
            </tr>
          ))}
        </Table>
      )}
      {value && value.sessions.length >= most && most < 1000 ? (
        <button type="button" class="quiet" onClick={() => setMost(Math.min(1000, most * 4))}>
          Show more
        </button>
      ) : null}
    </>
  );
}
