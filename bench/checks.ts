// What the check of action claims costs: a 2,000-word answer against a log of 1,000 events, beside splitting the answer into words. npm run bench -- --only checks
import { actionLogView } from '../src/checks/actions/index.ts';
import { runActionCheck } from '../src/checks/actions/run-action-check.ts';
import { fold, runStateView, type RunState } from '../src/core/index.ts';
import { createLogInput } from './log-input.ts';
import { measureCpu } from './measure-cpu.ts';
import { median } from './median.ts';

function time(work: () => unknown): number {
  const from = performance.now();
  work();
  return performance.now() - from;
}

/** Prints the time of the whole check, with the fold of its view over the log, and of splitting the answer into words. */
export async function benchChecks(rounds: number): Promise<void> {
  const { answer, events } = createLogInput();
  const view = runStateView([], [actionLogView]);
  const open = (): RunState => fold(view, events);
  const verdict = runActionCheck(open());
  const split = (): number => answer.split(/\s+/).length;
  const samples = { check: [] as number[], again: [] as number[], split: [] as number[] };
  for (let i = 0; i < 300 + rounds * 200; i++) {
    const state = open();
    const measured = [time(() => runActionCheck(state)), time(() => runActionCheck(state)), time(split)] as const;
    if (i < 300) continue;
    samples.check.push(measured[0]);
    samples.again.push(measured[1]);
    samples.split.push(measured[2]);
  }
  const micros = (list: readonly number[]): number => median(list) * 1000;
  const floor = micros(samples.split);
  console.log(
    `\nAction claims: ${split()} words against ${events.length} events (verdict: ${verdict.type}), microseconds, median of ${samples.check.length}`,
  );
  for (const [what, list] of [
    ['splitting the answer into words', samples.split],
    ['the check, with the fold of its view', samples.check],
    ['the check, with the view folded', samples.again],
  ] as const) {
    const p95 = list.toSorted((a, b) => a - b)[Math.floor(list.length * 0.95)] ?? 0;
    console.log(
      `  ${what.padEnd(40)} ${micros(list).toFixed(0).padStart(6)}  p95 ${(p95 * 1000).toFixed(0).padStart(6)}  least ${(Math.min(...list) * 1000).toFixed(0).padStart(5)}  x${(micros(list) / floor).toFixed(1)}`,
    );
  }
  const state = open();
  const [folded, whole] = [
    await measureCpu(rounds, () => runActionCheck(state)),
    await measureCpu(rounds, (each: RunState) => runActionCheck(each), open),
  ];
  console.log(`  CPU: ${whole.toFixed(3)} ms with the fold of its view, ${folded.toFixed(3)} ms with the view folded`);
}
