// Screen that starts a run in one of four modes.
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
import { Icon } from '../components/icon.tsx';
import { RunChoices } from '../components/run-choices.tsx';
import { RunTable } from '../components/run-table.tsx';
import { usePermission } from '../hooks/use-permission.ts';
import { EmptyState, ErrorMessage, PageTitle } from '../components/primitives.tsx';
import { useSubmit } from '../hooks/use-poll.ts';
import { navigate, linkTo, promptDraft } from '../state/router.ts';

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
    description:
      'The answer is checked claim by claim by models of other families; what is not supported is struck out.',
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

/** The new-run screen: the prompt, the model and folder it will use, and the latest runs. */
export function NewRunScreen(): JSX.Element {
  const [words, setWords] = useDraft(promptDraft);
  const [lastPrompt, setLastPrompt] = useDraft('ask before');
  const [chosenMode, setMode] = useDraft('ask way');
  const [typed, setTyped] = useDraft('ask settings');
  const settings = useMemo(() => (typed === '' ? {} : JSON.parse(typed)) as NewRunSettings, [typed]);
  const [queued, setQueued] = useState(0);
  const { busy, error, submit } = useSubmit();
  const may = usePermission('runner');
  const mayOperate = usePermission('operator');
  const chosen = runModes.find((each) => each.mode === chosenMode) ?? runModes[0];
  const { mode } = chosen;
  const problem = validateRunSettings(settings);
  const changeSettings = (next: NewRunSettings): void => setTyped(JSON.stringify(next));

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
      if (runs.length === 1) navigate('runs', runs[0]?.id);
      else setQueued(runs.length);
    });

  return (
    <>
      <PageTitle>Ask</PageTitle>
      <form
        class="composer new-run"
        onSubmit={(event) => {
          event.preventDefault();
          if (words.trim() !== '' && !busy && problem === undefined) ask();
        }}
      >
        <fieldset class="ways">
          <legend class="unseen">Mode</legend>
          {runModes.map((each) => (
            <label key={each.mode} title={each.description}>
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
        <div class="prompt-box">
          <label class="unseen" for="words">
            Prompt
          </label>
          <textarea
            id="words"
            name="words"
            rows={4}
            dir="auto"
            value={words}
            aria-describedby="way-what"
            placeholder={chosen.example}
            onInput={(event) => setWords(event.currentTarget.value)}
            onKeyDown={(event) => {
              if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) event.currentTarget.form?.requestSubmit();
            }}
          />
          <div class="composer-bar">
            <RunChoices
              value={{ model: settings.model ?? '', folder: settings.folder ?? '' }}
              change={(next) => changeSettings({ ...settings, ...next })}
            />
            {words === '' && lastPrompt !== '' ? (
              <button type="button" class="quiet" onClick={() => setWords(lastPrompt)}>
                <Icon name="refresh" size={14} /> Reuse prompt
              </button>
            ) : null}
            <span class="hint">
              {may ? (
                <span class="by-key">
                  <kbd>Ctrl</kbd> <kbd>Enter</kbd>
                </span>
              ) : (
                'Your key is read-only.'
              )}
            </span>
            <button
              type="submit"
              class="primary"
              disabled={!may || busy || words.trim() === '' || problem !== undefined}
            >
              <Icon name="send" size={14} /> {busy ? 'Sending' : chosen.name}
            </button>
          </div>
        </div>
        <RunSettingsForm settings={settings} way={mode} change={changeSettings} />
        {problem === undefined ? null : (
          <p class="failed" role="alert">
            {problem}
          </p>
        )}
        <ErrorMessage failed={error} />
      </form>
      {queued > 0 ? <QueuedMessage count={queued} /> : null}
      <section class="recent" aria-label="Recent runs">
        <RunTable
          caption="Recent runs"
          title="Recent runs"
          filter={{ limit: 8 }}
          intervalMs={4000}
          emptyState={<FirstSteps way={chosen.name} use={setWords} />}
        />
      </section>
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

const examplePrompts: readonly string[] = [
  'Read the README and say in three sentences what this project is for.',
  'Find the largest files in this folder and say what they are.',
  'Run the tests and explain the first failure.',
];

type FirstStepsProps = { readonly way: string; readonly use: (prompt: string) => void };

function FirstSteps({ way, use }: FirstStepsProps): JSX.Element {
  return (
    <EmptyState icon="ask" title="No runs yet.">
      <ol>
        <li>Write a prompt above, or use one of these:</li>
      </ol>
      <ul class="examples">
        {examplePrompts.map((prompt) => (
          <li key={prompt}>
            <button type="button" onClick={() => use(prompt)}>
              {prompt}
            </button>
          </li>
        ))}
      </ul>
      <ol start={2}>
        <li>Press {way}. The answer streams with every tool call and its cost.</li>
        <li>
          If a call needs approval, it waits in the run and under <a href={linkTo('approvals')}>Approvals</a>.
        </li>
      </ol>
    </EmptyState>
  );
}
