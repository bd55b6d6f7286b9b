// Tasks on their way into the queue: each id stands for one of them, and whoever asks again is told what it stands for.
import { FairleadError, type FleetRun, type FleetStore, type NewRun } from '../../core/index.ts';
import { otherThan } from '../../fleet/same-run.ts';

/** Puts runs into the queue, all or none: an id that stands for something else must not pass for what is asked here. Those that are there already are told of. */
export async function enqueueOnce(
  { queue }: FleetStore,
  runs: readonly NewRun[],
  again?: (known: FleetRun) => void,
): Promise<readonly FleetRun[]> {
  const wanted = new Map<string, NewRun>();
  for (const run of runs) {
    if (run.id === undefined) continue;
    const twin = wanted.get(run.id);
    if (twin && twin.words !== run.words) throw other(run.id, 'words', JSON.stringify(twin.words));
    wanted.set(run.id, run);
    const known = await queue.run(run.id);
    if (!known) continue;
    mustBe(known, run);
    again?.(known);
  }
  const queued = await queue.enqueue(runs);
  // Somebody else may have taken an id since.
  for (const [i, run] of runs.entries()) if (queued[i]) mustBe(queued[i], run);
  return queued;
}

function mustBe(known: FleetRun, run: NewRun): void {
  const difference = otherThan(known, run);
  if (difference) throw other(known.id, ...difference);
}

const other = (id: string, name: string, is: string): FairleadError =>
  new FairleadError(
    'cli/other-task',
    `${id} is another run already: its ${name} ${name.endsWith('s') ? 'are' : 'is'} ${is}.`,
    {
      blame: 'user',
      hint: 'Give the same words and settings, or another --id.',
    },
  );
