// Screen of all sessions, last changed first.
import type { JSX } from 'preact';
import { formatCount } from '../text/format.ts';
import { EscapedText } from '../components/markdown-view.tsx';
import { truncate } from '../text/labels.ts';
import { EmptyState, ErrorMessage, DataTable, PageTitle, RelativeTime } from '../components/primitives.tsx';
import { usePoll } from '../hooks/use-poll.ts';
import { linkTo } from '../state/router.ts';
import { api } from '../api/client.ts';

/** Sessions per page. */
const pageSize = 50;

const formatSessionTitle = (words: string): string => truncate(words.replaceAll(/\s+/g, ' '), 140);

/** The sessions screen; the query says where the list starts. */
export function SessionsScreen({ query }: { readonly query: string }): JSX.Element {
  const before = new URLSearchParams(query).get('before') ?? '';
  const from = { limit: pageSize, ...(before === '' ? {} : { before }) };
  const { value, error } = usePoll((signal) => api.sessions(from, signal), 5000, before);
  // A session that a run created has the id of the run, so `before` selects the runs of the same page.
  const runs =
    usePoll((signal) => api.runs({ ...from, limit: 4 * pageSize }, signal), 10_000, before).value?.runs ?? [];
  const sessions = value?.sessions ?? [];
  // Runs are listed latest first, so the first run of a session is set last and wins.
  const firstPrompts = new Map(runs.map(({ session, prompt }) => [session, prompt]));
  return (
    <>
      <PageTitle>Sessions</PageTitle>
      <ErrorMessage failed={error} />
      {before === '' ? null : (
        <p class="pages">
          Older sessions. <a href={linkTo('sessions')}>Back to the latest</a>
        </p>
      )}
      {value && sessions.length === 0 ? (
        before !== '' ? (
          <p class="hint">No older sessions.</p>
        ) : (
          <EmptyState title="No sessions yet.">
            <p>
              Every run is recorded in a session. Start a run in <a href={linkTo('ask')}>Ask</a>.
            </p>
          </EmptyState>
        )
      ) : (
        <DataTable caption="Sessions, last changed first" head={['Session', '#Events', 'Changed', 'Started', 'Writer']}>
          {sessions.map((each) => (
            <tr key={each.session}>
              <td class="words">
                <a href={linkTo('sessions', each.session)}>
                  <bdi>
                    <EscapedText
                      text={formatSessionTitle(each.name ?? firstPrompts.get(each.session) ?? each.session)}
                    />
                  </bdi>
                </a>
              </td>
              <td class="number">{formatCount(each.events)}</td>
              <td>
                <RelativeTime time={each.changed} />
              </td>
              <td>
                <RelativeTime time={each.begun} />
              </td>
              <td>{each.holder ?? ''}</td>
            </tr>
          ))}
        </DataTable>
      )}
      {sessions.length >= pageSize ? (
        <p class="pages">
          <a href={linkTo('sessions', undefined, { before: sessions.at(-1)?.session ?? '' })}>Older sessions</a>
        </p>
      ) : null}
    </>
  );
}
