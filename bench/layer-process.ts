// What the whole deterministic layer costs from the first call of a process on: the built package, as a session with verification calls it. Prints a line of JSON.
import path from 'node:path';
import type * as Checks from '../src/checks/index.ts';
import type * as Core from '../src/core/index.ts';
import { createLogInput } from './log-input.ts';
import { longWarmUp, measureCpu, measureMean, shortWarmUp } from './measure-cpu.ts';

/** CPU milliseconds of a call of the layer. */
export type LayerCost = {
  /** The first call of the process: it loads the code of the check and reads the evidence for the first time. */
  readonly first: number;
  /** The mean of the calls after it up to the short warm-up. */
  readonly early: number;
  /** The mean of the calls from there up to the long warm-up. */
  readonly later: number;
  /** The least batch after the long warm-up. */
  readonly steady: number;
};

const dist = path.join(import.meta.dirname, '..', 'dist');
const { fold, runStateView } = (await import(path.join(dist, 'core.js'))) as typeof Core;
const { actionClaims, defaultVerifiers, runVerifiers, splitClaims } = (await import(
  path.join(dist, 'checks.js')
)) as typeof Checks;

const [rounds = '5'] = process.argv.slice(2);

/** How many different answers to the same log are checked, one after the other. */
const answerCount = 40;

const { events } = createLogInput();
const check = actionClaims();
const state = fold(runStateView([], check.views), events);
const history = state.messages.items.slice(0, state.messages.length - 1);
const inputs = Array.from({ length: answerCount }, (_, number) => {
  const { answer } = createLogInput(number);
  const message: Core.Message = { role: 'assistant', parts: [{ type: 'text', text: answer }] };
  return { answer, state: { ...state, messages: { length: history.length + 1, items: [...history, message] } } };
});
const evidence = events.flatMap((event): readonly Checks.Evidence[] =>
  event.type === 'tool-ended' ? [{ source: { type: 'event', seq: event.seq }, text: event.text }] : [],
);
const { signal } = new AbortController();

/** The check of action claims, the split into claims, and the verifiers. Each call has another answer than the call before it. */
async function checkAnswer(call: number): Promise<void> {
  const input = inputs[call % inputs.length];
  if (!input) return;
  if (check.appliesTo?.(input.state) !== false) await check.run(input.state, signal);
  const context: Checks.VerifyContext = { answer: input.answer, evidence, events, signal };
  for (const claim of splitClaims(input.answer)) await runVerifiers(defaultVerifiers, claim, context);
}

const callsFrom = (from: number, to: number): readonly number[] =>
  Array.from({ length: to - from }, (_, index) => from + index);
let calls = longWarmUp;
const cost: LayerCost = {
  first: await measureMean(callsFrom(0, 1), checkAnswer),
  early: await measureMean(callsFrom(1, shortWarmUp), checkAnswer),
  later: await measureMean(callsFrom(shortWarmUp, longWarmUp), checkAnswer),
  steady: await measureCpu(Number(rounds), checkAnswer, () => calls++, 0),
};
console.log(JSON.stringify(cost));
