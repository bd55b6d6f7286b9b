// Sessions: each a log, the one that changed last first.
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { count } from '../text/format.ts';
import { Empty, Failed, Table, Title, When } from '../view/parts.tsx';
import { usePoll } from '../view/poll.ts';
import { linkTo } from '../view/route.ts';
import { api } from '../wire/api.ts';

/** The screen that lists sessions. */
export function SessionsScreen(): JSX.Element {
  const [most, setMost] = useState(50);
  const { value, failed } = usePoll((signal) => api.sessions({ most }, signal), 5000, String(most));
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
                <a href={linkTo('sessions', each.session)}>{each.name ?? each.session}</a>
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
