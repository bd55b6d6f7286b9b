// Ask: say what is to be done, in one of four ways, and watch the answer come in.
import type { JSX } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import type { FleetRun } from '../../../src/core/index.ts';
import { api, freshId, type Way } from '../wire/api.ts';
import { AskSettings, problemIn, settingsOf, type Settings } from '../view/ask-settings.tsx';
import { useDraft } from '../view/draft.ts';
import { LiveRun } from '../view/live-run.tsx';
import { useMay } from '../view/may.ts';
import { Empty, Failed, Title } from '../view/parts.tsx';
import { useSending } from '../view/poll.ts';
import { goTo, linkTo } from '../view/route.ts';

type Choice = {
  readonly way: Way | 'enqueue';
  readonly name: string;
  readonly what: string;
  readonly example: string;
};

const ways: readonly [Choice, ...Choice[]] = [
  {
    way: 'run',
    name: 'Run',
    what: 'One agent works on it until it has an answer or a question.',
    example: 'Read the README and say in three sentences what this project is for.',
  },
  {
    way: 'orchestrate',
    name: 'Orchestrate',
    what: 'The task is taken apart, its parts are done side by side, and the results are put together.',
    example: 'Compare the test suites of the three packages and name what each lacks.',
  },
  {
    way: 'verify',
    name: 'Verify',
    what: 'Other models answer the question, or examine an answer, and say where they disagree.',
    example: 'Is 2027 a leap year?',
  },
  {
    way: 'enqueue',
    name: 'Enqueue',
    what: 'One run a line. Workers take them when they can; nothing waits for you here.',
    example: 'Summarise chapter 1\nSummarise chapter 2',
  },
];

/** The id of what is being asked: the same words sent again after a broken line are one run. */
let attempt: { readonly of: string; readonly id: string } | undefined;

function idOf(asked: unknown): string {
  const of = JSON.stringify(asked);
  if (attempt?.of !== of) attempt = { of, id: freshId() };
  return attempt.id;
}

/** The screen where something is asked; `id` is the run that is shown below, the last one that was begun here unless the address names one. */
export function AskScreen({ id }: { readonly id: string | undefined }): JSX.Element {
  const [words, setWords] = useDraft('ask');
  const [before, setBefore] = useDraft('ask before');
  const [chosenWay, setWay] = useDraft('ask way');
  const [typed, setTyped] = useDraft('ask settings');
  const settings = useMemo(() => (typed === '' ? {} : JSON.parse(typed)) as Settings, [typed]);
  const [last, setLast] = useDraft('ask run');
  const [queued, setQueued] = useState(0);
  const { busy, failed, send } = useSending();
  const may = useMay('runner');
  const mayOperate = useMay('operator');
  const chosen = ways.find((each) => each.way === chosenWay) ?? ways[0];
  const { way } = chosen;
  const shown = id ?? last;
  const problem = problemIn(settings);

  const ask = (): void =>
    send(async () => {
      // What an operator filled in before does not count for a lesser key.
      const more = settingsOf({ ...settings, auto: mayOperate && settings.auto === true }, way);
      const runs =
        way === 'enqueue'
          ? await enqueue(words, more)
          : [(await api.ask(way, { words, ...more }, idOf([way, words, more]))).run];
      attempt = undefined;
      setBefore(words);
      setWords('');
      setQueued(runs.length > 1 ? runs.length : 0);
      // What is asked has an address of its own: to come back to, and to give to somebody else.
      setLast(runs.length === 1 ? (runs[0]?.id ?? '') : '');
      goTo('ask', runs.length === 1 ? runs[0]?.id : undefined);
    });

  return (
    <>
      <Title>Ask</Title>
      <form
        class="composer"
        onSubmit={(event) => {
          event.preventDefault();
          if (words.trim() !== '' && !busy && problem === undefined) ask();
        }}
      >
        <fieldset class="ways">
          <legend class="unseen">How</legend>
          {ways.map((each) => (
            <label key={each.way}>
              <input
                type="radio"
                name="way"
                value={each.way}
                checked={way === each.way}
                onChange={() => setWay(each.way)}
              />
              <span>{each.name}</span>
            </label>
          ))}
        </fieldset>
        <p class="hint" id="way-what">
          {chosen.what}
        </p>
        <label class="unseen" for="words">
          What is to be done
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
        <AskSettings settings={settings} way={way} change={(next) => setTyped(JSON.stringify(next))} />
        <div class="buttons">
          <button type="submit" class="primary" disabled={!may || busy || words.trim() === '' || problem !== undefined}>
            {busy ? 'Sending' : chosen.name}
          </button>
          {words === '' && before !== '' ? (
            <button type="button" class="quiet" onClick={() => setWords(before)}>
              Bring back what was asked
            </button>
          ) : null}
          <span class="hint">
            {may ? (
              <span class="by-key">
                or <kbd>Ctrl</kbd> <kbd>Enter</kbd>
              </span>
            ) : (
              'Your key may only read.'
            )}
          </span>
        </div>
        {problem === undefined ? null : (
          <p class="failed" role="alert">
            {problem}
          </p>
        )}
        <Failed failed={failed} />
      </form>
      {queued > 0 && id === undefined ? (
        <Queued count={queued} />
      ) : shown === '' ? (
        <FirstSteps />
      ) : (
        <LiveRun key={shown} id={shown} />
      )}
    </>
  );
}

async function enqueue(words: string, settings: ReturnType<typeof settingsOf>): Promise<readonly FleetRun[]> {
  const { tenant, priority, ...rest } = settings;
  const lines = words
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean);
  const runs = lines.map((line, i) => ({
    id: idOf([words, settings]) + (lines.length > 1 ? `-${i + 1}` : ''),
    words: line,
    ...(tenant === undefined ? {} : { tenant }),
    ...(priority === undefined ? {} : { priority }),
    ...(Object.keys(rest).length > 0 ? { settings: JSON.parse(JSON.stringify(rest)) } : {}),
  }));
  return (await api.enqueue(runs)).runs;
}

function Queued({ count }: { readonly count: number }): JSX.Element {
  return (
    <Empty title={`${count} runs are in the queue.`}>
      <p>
        See them in <a href={linkTo('runs')}>Runs</a>, and who works on them in <a href={linkTo('fleet')}>Fleet</a>.
      </p>
    </Empty>
  );
}

function FirstSteps(): JSX.Element {
  return (
    <Empty title="Nothing has been asked from here yet.">
      <ol>
        <li>Write above what is to be done, as you would to a colleague.</li>
        <li>Press Run. The answer streams in below, with every tool call and what it cost.</li>
        <li>
          Where a call needs your word it waits for you here and in <a href={linkTo('approvals')}>Approvals</a>, for
          days if need be.
        </li>
      </ol>
    </Empty>
  );
}
