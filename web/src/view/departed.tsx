// What waited for a person and no longer does: a line for each, so that an answer leads on to what came of it.
import type { JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { Visible } from '../text/markdown-view.tsx';
import { headingOf } from '../text/words.ts';
import { api } from '../wire/api.ts';
import type { Approval } from '../wire/shapes.ts';
import { cell, useCell } from '../cell.ts';
import { Status } from './parts.tsx';
import { usePoll } from './poll.ts';
import { linkTo } from './route.ts';

type Gone = Pick<Approval, 'run' | 'session' | 'words'>;

const most = 10;

/** Kept between visits of the screen, the latest first. */
const departed = cell<readonly Gone[]>([]);

/** What was answered from here, by run. */
const given = new Map<string, readonly string[]>();

/** Remembers an answer that was given here. */
export const remember = (run: string, answer: string): void => void given.set(run, [...(given.get(run) ?? []), answer]);

/** The lines of what has left a list of approvals while somebody looked. */
export function Departed({ approvals }: { readonly approvals: readonly Approval[] | undefined }): JSX.Element | null {
  const lines = useCell(departed);
  const before = useRef<readonly Approval[]>([]);
  useEffect(() => {
    if (approvals === undefined) return;
    const waiting = new Set(approvals.map(({ run }) => run));
    const left = before.current.filter(({ run }) => !waiting.has(run));
    const known = new Set([...waiting, ...left.map(({ run }) => run)]);
    before.current = approvals;
    // One that asks again waits again, and is no longer among these.
    const kept = departed.get().filter(({ run }) => !known.has(run));
    if (left.length > 0 || kept.length < departed.get().length) departed.set([...left, ...kept].slice(0, most));
  }, [approvals]);
  if (lines.length === 0) return null;
  return (
    <section aria-labelledby="departed-title">
      <h2 id="departed-title">No longer waiting</h2>
      <ul class="departed">
        {lines.map((line) => (
          <Line key={line.run} line={line} />
        ))}
      </ul>
    </section>
  );
}

function Line({ line: { run, session, words } }: { readonly line: Gone }): JSX.Element {
  const { value } = usePoll((signal) => api.run(run, signal), 3000, run);
  const answers = given.get(run);
  return (
    <li>
      <span class="words" dir="auto">
        <Visible text={headingOf(words)} />
      </span>
      <span class="hint">
        {answers ? `You answered: ${answers.join(', ')}.` : 'Answered by somebody else, or its run ended.'}
      </span>
      {value ? <Status run={value.run} /> : null}
      <a href={linkTo('sessions', session)}>
        See its session<span class="unseen"> about {headingOf(words)}</span>
      </a>
    </li>
  );
}
