// Screen that starts a run in one of four modes and streams its answer.
import type { JSX } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import type { FleetRun } from '../../../src/core/index.ts';
import { api, createId, type RunMode } from '../api/client.ts';
import {
  RunSettingsForm,
  validateRunSettings,
  parseRunSettings,
  type NewRunSettings,
} from '../components/run-settings-form.tsx';
import { useDraft } from '../hooks/use-draft.ts';
import { LiveRun } from '../components/live-run.tsx';
import { usePermission } from '../hooks/use-permission.ts';
import { EmptyState, ErrorMessage, PageTitle } from '../components/primitives.tsx';
import { useSubmit } from '../hooks/use-poll.ts';
import { navigate, linkTo } from '../state/router.ts';

type RunModeOption = {
  readonly mode: RunMode | 'enqueue';
  readonly name: string;
  readonly description: string;
  readonly example: string;
};

const runModes: readonly [RunModeOption, ...RunModeOption[]] = [
  {
    mode: 'run',
    name: 'Run',
    description: 'One agent works on the task until it has an answer or needs approval.',
    example: 'Read the README and say in three sentences what this project is for.',
  },
  {
    mode: 'orchestrate',
    name: 'Orchestrate',
    description: 'The task is split into child runs that work in parallel, and their results are combined.',
    example: 'Compare the test suites of the three packages and name what each lacks.',
  },
  {
    mode: 'verify',
    name: 'Verify',
    description: 'Other models answer the question or check an answer, and report where they disagree.',
    example: 'Is 2027 a leap year?',
  },
  {
    mode: 'enqueue',
    name: 'Enqueue',
    description: 'One run per line. Workers process the runs; you can close this page.',
    example: 'Summarise chapter 1\nSummarise chapter 2',
  },
];

/** The idempotency key of the request: the same request after a failed connection is the same run. */
let pendingRequest: { readonly of: string; readonly id: string } | undefined;

function getIdempotencyKey(asked: unknown): string {
  const of = JSON.stringify(asked);
  if (pendingRequest?.of !== of) pendingRequest = { of, id: createId() };
  return pendingRequest.id;
}

/** The new-run screen; `id` is the run that is shown below the form, by default the last one that was started here. */
export function NewRunScreen({ id }: { readonly id: string | undefined }): JSX.Element {
  const [words, setWords] = useDraft('ask');
  const [lastPrompt, setLastPrompt] = useDraft('ask before');
  const [chosenMode, setMode] = useDraft('ask way');
  const [typed, setTyped] = useDraft('ask settings');
  const settings = useMemo(() => (typed === '' ? {} : JSON.parse(typed)) as NewRunSettings, [typed]);
  const [last, setLast] = useDraft('ask run');
  const [queued, setQueued] = useState(0);
  const { busy, error, submit } = useSubmit();
  const may = usePermission('runner');
  const mayOperate = usePermission('operator');
  const chosen = runModes.find((each) => each.mode === chosenMode) ?? runModes[0];
  const { mode } = chosen;
  const shown = id ?? last;
  const problem = validateRunSettings(settings);

  const ask = (): void =>
    submit(async () => {
      // A draft of an operator must not apply to a key with a lower role.
      const more = parseRunSettings({ ...settings, auto: mayOperate && settings.auto === true }, mode);
      const runs =
        mode === 'enqueue'
          ? await enqueueLines(words, more)
          : [(await api.startRun(mode, { prompt: words, ...more }, getIdempotencyKey([mode, words, more]))).run];
      pendingRequest = undefined;
      setLastPrompt(words);
      setWords('');
      setQueued(runs.length > 1 ? runs.length : 0);
      // The run gets a URL of its own, for the history and for sharing.
      setLast(runs.length === 1 ? (runs[0]?.id ?? '') : '');
      navigate('ask', runs.length === 1 ? runs[0]?.id : undefined);
    });

  return (
    <>
      <PageTitle>Ask</PageTitle>
      <form
        class="composer"
        onSubmit={(event) => {
          event.preventDefault();
          if (words.trim() !== '' && !busy && problem === undefined) ask();
        }}
      >
        <fieldset class="ways">
          <legend class="unseen">Mode</legend>
          {runModes.map((each) => (
            <label key={each.mode}>
              <input
                type="radio"
                name="way"
                value={each.mode}
                checked={mode === each.mode}
                onChange={() => setMode(each.mode)}
              />
              <span>{each.name}</span>
            </label>
          ))}
        </fieldset>
        <p class="hint" id="way-what">
          {chosen.description}
        </p>
        <label class="unseen" for="words">
          Prompt
        </label>
        <textarea
          id="words"
          name="words"
          rows={shown !== '' || queued > 0 ? 2 : 5}
          dir="auto"
          value={words}
          aria-describedby="way-what"
          placeholder={chosen.example}
          onInput={(event) => setWords(event.currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) event.currentTarget.form?.requestSubmit();
          }}
        />
        <RunSettingsForm settings={settings} way={mode} change={(next) => setTyped(JSON.stringify(next))} />
        <div class="buttons">
          <button type="submit" class="primary" disabled={!may || busy || words.trim() === '' || problem !== undefined}>
            {busy ? 'Sending' : chosen.name}
          </button>
          {words === '' && lastPrompt !== '' ? (
            <button type="button" class="quiet" onClick={() => setWords(lastPrompt)}>
              Restore the last prompt
            </button>
          ) : null}
          <span class="hint">
            {may ? (
              <span class="by-key">
                or <kbd>Ctrl</kbd> <kbd>Enter</kbd>
              </span>
            ) : (
              'Your key is read-only.'
            )}
          </span>
        </div>
        {problem === undefined ? null : (
          <p class="failed" role="alert">
            {problem}
          </p>
        )}
        <ErrorMessage failed={error} />
      </form>
      {queued > 0 && id === undefined ? (
        <QueuedMessage count={queued} />
      ) : shown === '' ? (
        <FirstSteps />
      ) : (
        <LiveRun key={shown} id={shown} />
      )}
    </>
  );
}

async function enqueueLines(
  words: string,
  settings: ReturnType<typeof parseRunSettings>,
): Promise<readonly FleetRun[]> {
  const { tenant, priority, ...rest } = settings;
  const lines = words
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean);
  const runs = lines.map((line, i) => ({
    id: getIdempotencyKey([words, settings]) + (lines.length > 1 ? `-${i + 1}` : ''),
    prompt: line,
    ...(tenant === undefined ? {} : { tenant }),
    ...(priority === undefined ? {} : { priority }),
    ...(Object.keys(rest).length > 0 ? { settings: JSON.parse(JSON.stringify(rest)) } : {}),
  }));
  return (await api.enqueue(runs)).runs;
}

function QueuedMessage({ count }: { readonly count: number }): JSX.Element {
  return (
    <EmptyState title={`${count} runs are in the queue.`}>
      <p>
        See them in <a href={linkTo('runs')}>Runs</a>, and the workers in <a href={linkTo('fleet')}>Fleet</a>.
      </p>
    </EmptyState>
  );
}

function FirstSteps(): JSX.Element {
  return (
    <EmptyState title="No runs yet.">
      <ol>
        <li>Write a prompt above.</li>
        <li>Press Run. The answer streams below, with every tool call and its cost.</li>
        <li>
          A call that needs approval waits here and in <a href={linkTo('approvals')}>Approvals</a>, for days if
          necessary.
        </li>
      </ol>
    </EmptyState>
  );
}
