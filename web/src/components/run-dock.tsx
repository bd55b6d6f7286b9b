// The dock at the bottom of a session: the status of the run, and the field for the next message. It stays in view while the page scrolls.
import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { FleetRun } from '../../../src/core/index.ts';
import { api, createId } from '../api/client.ts';
import { useDraft } from '../hooks/use-draft.ts';
import type { Follow } from '../hooks/use-follow.ts';
import { useNow, useSubmit } from '../hooks/use-poll.ts';
import { inheritRunSettings } from '../state/inherited-settings.ts';
import { navigate } from '../state/router.ts';
import { getRunStatus, type RunStatusLine } from '../state/run-status.ts';
import type { Timeline } from '../state/timeline.ts';
import { formatCompact, formatDuration, formatUsd } from '../text/format.ts';
import { Icon } from './icon.tsx';
import { ErrorMessage, isFailedRun, StatusBadge } from './primitives.tsx';

type RunDockProps = {
  readonly session: string;
  readonly run: FleetRun | undefined;
  readonly timeline: Timeline;
  readonly isLive: boolean;
  readonly may: boolean;
  readonly follow: Follow;
  /** Whether the screen shows one run only, so that a new run needs another address. */
  readonly isRunScreen: boolean;
  readonly shouldFocus: boolean;
};

/** The status line, the button that jumps to the end, and the composer. */
export function RunDock(props: RunDockProps): JSX.Element {
  const { session, run, timeline, isLive, may, follow } = props;
  const { busy, error, submit } = useSubmit();
  const stop = (): void => submit(() => (run ? api.cancelRun(run.id) : api.cancelSession(session)));
  return (
    <div class="dock">
      {follow.isAtEnd ? null : (
        <button type="button" class="jump" onClick={follow.jumpToEnd}>
          <Icon name="down" size={14} /> Jump to end
        </button>
      )}
      <div class="dock-status">
        {run ? <StatusBadge run={run} /> : <span class="status">{isLive ? 'running' : 'ended'}</span>}
        <StatusFigures line={getRunStatus(timeline, run)} isLive={isLive} />
        {isLive && may ? (
          <button type="button" class="danger small" disabled={busy} onClick={stop}>
            <Icon name="stop" size={12} /> Cancel the run
          </button>
        ) : null}
      </div>
      <ErrorMessage failed={error} />
      {may ? <PromptForm {...props} /> : null}
    </div>
  );
}

function StatusFigures({ line, isLive }: { readonly line: RunStatusLine; readonly isLive: boolean }): JSX.Element {
  const now = useNow(isLive ? 1000 : 60_000);
  const { turns, since, ms, usd, tokens, model, retry } = line;
  const elapsed = isLive && since !== undefined ? now - Date.parse(since) : ms;
  return (
    <p class="dock-figures">
      {retry === undefined ? null : <span class="retry">{retry}</span>}
      {turns > 0 ? <span>turn {turns}</span> : null}
      {elapsed === undefined ? null : <span>{formatDuration(elapsed)}</span>}
      {usd === undefined ? null : <span>{formatUsd(usd)}</span>}
      {tokens > 0 ? <span>{formatCompact(tokens)} tokens</span> : null}
      {model === '' ? null : <span class="model">{model}</span>}
    </p>
  );
}

type SteerMode = 'steer' | 'follow-up';

/** What a retry sends: the prompt again if no turn was recorded, or else a request to continue. */
const getRetryPrompt = (run: FleetRun | undefined): string =>
  run?.outcome?.spent.turns === 0 ? run.prompt : 'Continue.';

/** Sends a message to the active run, or starts a new run in the session. */
function PromptForm({ session, run, isLive, isRunScreen, shouldFocus, follow }: RunDockProps): JSX.Element {
  const [words, setWords] = useDraft(`session ${session}`);
  const [how, setHow] = useState<SteerMode>('steer');
  const [status, setStatus] = useState('');
  const { busy, error, submit } = useSubmit();
  const field = useRef<HTMLTextAreaElement>(null);
  useEffect(() => {
    if (shouldFocus) field.current?.focus();
  }, [shouldFocus]);
  const startRun = (prompt: string): void =>
    submit(async () => {
      const started = await api.startRun('run', { ...inheritRunSettings(run), prompt, session }, createId());
      setStatus('Run started.');
      if (prompt === words) setWords('');
      follow.jumpToEnd();
      // The screen of a run shows only that run, so open the new one.
      if (isRunScreen) navigate('runs', started.run.id);
    });
  const steer = (): void =>
    submit(async () => {
      await api.sendMessage(session, words, how);
      setStatus(`Sent. It is delivered ${how === 'steer' ? 'at the next step' : 'after the answer'}.`);
      setWords('');
    });
  const label = isLive ? 'Steer this run' : 'Continue this session';
  return (
    <form
      class="composer"
      onSubmit={(event) => {
        event.preventDefault();
        if (words.trim() === '' || busy) return;
        if (isLive) steer();
        else startRun(words);
      }}
    >
      <label class="unseen" for="speaking">
        {label}
      </label>
      <textarea
        id="speaking"
        ref={field}
        dir="auto"
        rows={1}
        placeholder={isLive ? 'Send a message to this run' : 'Continue this session'}
        value={words}
        onInput={(event) => setWords(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) event.currentTarget.form?.requestSubmit();
        }}
      />
      <div class="composer-bar">
        {isLive ? (
          <label class="check">
            <span class="unseen">When</span>
            <select
              value={how}
              onChange={(event) => setHow(event.currentTarget.value === 'follow-up' ? 'follow-up' : 'steer')}
            >
              <option value="steer">at the next step</option>
              <option value="follow-up">after the answer</option>
            </select>
          </label>
        ) : null}
        <span class="hint" role="status">
          {status}
        </span>
        {!isLive && isFailedRun(run) ? (
          <button type="button" disabled={busy} onClick={() => startRun(getRetryPrompt(run))}>
            <Icon name="refresh" size={14} /> Retry
          </button>
        ) : null}
        <button type="submit" class="primary" disabled={busy || words.trim() === ''}>
          <Icon name="send" size={14} /> {isLive ? 'Send' : 'Continue'}
        </button>
      </div>
      <ErrorMessage failed={error} />
    </form>
  );
}
