// What the deterministic layer costs: a 2,000-word answer against evidence, and the support scorer beside it. npm run bench -- --only verifiers
import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { contentWords, createSupportScorer, defaultVerifiers, runVerifiers, splitClaims } from '../src/checks/index.ts';
import type { Claim, Evidence, VerifyContext } from '../src/checks/index.ts';
import type { Event } from '../src/core/index.ts';
import type { LayerCost } from './layer-process.ts';
import { createLogInput } from './log-input.ts';
import { longWarmUp, measureCpu, shortWarmUp } from './measure-cpu.ts';
import { median } from './median.ts';

const nouns = ['server', 'worker', 'index', 'session', 'parser', 'budget', 'report', 'cache', 'tenant', 'schedule'];
const verbs = ['keeps', 'writes', 'reads', 'sends', 'checks', 'counts'];
const objects = [
  'the entries of a day',
  'each result of a call',
  'the keys of its owner',
  'all events of a run',
  'a copy of the plan',
];

const pick = (list: readonly string[], index: number): string => list[index % list.length] ?? '';

/** A sentence of twelve words or so; every eighth has numbers, a date, a quotation, a conversion or a path. */
function createSentence(index: number): string {
  const plain = `The ${pick(nouns, index)} of part ${index} ${pick(verbs, index * 7)} ${pick(objects, index * 3)} in its own folder`;
  if (index % 8 === 1) return `${index} + ${index} = ${index * 2}.`;
  if (index % 24 === 2) return `${plain} since 17 November 2026.`;
  if (index % 24 === 10) return `${plain}, see src/part-${index}.ts.`;
  if (index % 24 === 18) return `The document says "the ${pick(nouns, index)} of part ${index}" about it.`;
  if (index % 40 === 5) return '5 km is 3.107 miles.';
  return `${plain}.`;
}

/** An answer of at least so many words, and evidence that has three of four of its sentences and as many others. */
function createInput(words: number): { readonly answer: string; readonly evidence: string } {
  const sentences: string[] = [];
  for (let count = 0, index = 0; count < words; index++) {
    sentences.push(createSentence(index));
    count += sentences.at(-1)?.split(' ').length ?? 0;
  }
  const known = sentences.filter((_, index) => index % 4 > 0);
  const others = sentences.map((_, index) => createSentence(index + 10_000));
  return { answer: sentences.join(' '), evidence: [...known, ...others].join(' ') };
}

let texts = 0;

/** Evidence whose text was never seen before, so that nothing of it is known. */
const createEvidence = (source: Evidence['source'], text: string): Evidence => ({
  source,
  text: `${text}\n[${texts++}]`,
});

/** Runs the default verifiers over all claims, and returns how many are supported. */
async function verifyAll(claims: readonly Claim[], context: VerifyContext): Promise<number> {
  let supported = 0;
  for (const claim of claims)
    if ((await runVerifiers(defaultVerifiers, claim, context)).verdict?.type === 'supported') supported += 1;
  return supported;
}

/** CPU milliseconds of the default verifiers: with evidence that is read for the first time, with evidence that was read before, and without. */
async function measureVerifiers(
  rounds: number,
  answer: string,
  createAll: () => readonly Evidence[],
  events: readonly Event[] = [],
  warmUp: number = shortWarmUp,
): Promise<Readonly<Record<string, number>>> {
  const claims = splitClaims(answer);
  const { signal } = new AbortController();
  const toContext = (evidence: readonly Evidence[]): VerifyContext => ({ answer, evidence, events, signal });
  const known = toContext(createAll());
  const none = toContext([]);
  const verify = (context: VerifyContext): Promise<number> => verifyAll(claims, context);
  return {
    'claims of the answer': await measureCpu(rounds, () => splitClaims(answer), undefined, warmUp),
    'default verifiers, new evidence': await measureCpu(rounds, verify, () => toContext(createAll()), warmUp),
    'default verifiers, known evidence': await measureCpu(rounds, () => verify(known), undefined, warmUp),
    'default verifiers, no evidence': await measureCpu(rounds, () => verify(none), undefined, warmUp),
  };
}

/** How many processes the whole layer is measured in. */
const layerProcesses = 3;

/** Measures the whole layer in processes of their own, so that the first calls are the first of a process. */
function measureLayer(rounds: number): readonly LayerCost[] {
  const args = [path.join(import.meta.dirname, 'layer-process.ts'), String(rounds)];
  return Array.from({ length: layerProcesses }, () => {
    const { stdout, stderr, status } = spawnSync(process.execPath, args, { encoding: 'utf8', timeout: 240_000 });
    if (status !== 0) throw new Error(`The measurement of the whole layer failed: ${stderr.slice(-800)}`);
    return JSON.parse(stdout) as LayerCost;
  });
}

/** Prints what one call of the whole layer costs in the steady state, and what the first calls of a process cost. */
function printLayer(costs: readonly LayerCost[]): void {
  const print = (title: string, ms: number): void => console.log(`  ${title.padEnd(44)} ${ms.toFixed(3)} ms`);
  console.log(
    `\nwhole layer (action claims, claims, verifiers), the same answers and log, built package, ${costs.length} processes; CPU ms a call with all threads`,
  );
  print(`steady state, least after ${longWarmUp} calls`, Math.min(...costs.map(({ steady }) => steady)));
  print(`calls ${shortWarmUp + 1} to ${longWarmUp}, mean`, median(costs.map(({ later }) => later)));
  print(`calls 2 to ${shortWarmUp}, mean, while V8 compiles`, median(costs.map(({ early }) => early)));
  print('first call, with loading and new evidence', median(costs.map(({ first }) => first)));
}

const countWords = (text: string): number => text.split(/\s+/).length;

function printRows(measured: Readonly<Record<string, number>>, words: number): void {
  for (const [title, ms] of Object.entries(measured)) console.log(`  ${title.padEnd(34)} ${ms.toFixed(3)} ms`);
  const indexing =
    (measured['default verifiers, new evidence'] ?? 0) - (measured['default verifiers, known evidence'] ?? 0);
  console.log(`  ${'first reading of the evidence'.padEnd(34)} ${((indexing * 1e6) / words).toFixed(0)} ns a word`);
}

/** Prints what the deterministic layer costs for a 2,000-word answer, in CPU milliseconds. */
export async function benchVerifiers(rounds: number): Promise<void> {
  const { answer, evidence } = createInput(2000);
  const claims = splitClaims(answer);
  const createAll = (): readonly Evidence[] => [createEvidence({ type: 'given', name: 'evidence' }, evidence)];
  const { signal } = new AbortController();
  const supported = await verifyAll(claims, { answer, evidence: createAll(), signal });
  const measured = {
    'words of answer and evidence': await measureCpu(
      rounds,
      () => contentWords(answer).length + contentWords(evidence).length,
    ),
    ...(await measureVerifiers(rounds, answer, createAll)),
    'support scorer': await measureCpu(rounds, () => {
      const score = createSupportScorer(evidence);
      for (const { text } of claims) score(text);
    }),
  };
  console.log(
    `\ndeterministic layer: ${countWords(answer)} words, ${claims.length} claims (${supported} supported), ${countWords(evidence)} words of evidence; CPU ms after ${shortWarmUp} calls`,
  );
  printRows(measured, countWords(evidence));
  const log = createLogInput();
  const results = log.events.flatMap((event) => (event.type === 'tool-ended' ? [event] : []));
  const createResults = (): readonly Evidence[] =>
    results.map(({ seq, text }) => createEvidence({ type: 'event', seq }, text));
  const words = results.reduce((sum, { text }) => sum + countWords(text), 0);
  console.log(
    `\ndeterministic layer: ${countWords(log.answer)} words, ${splitClaims(log.answer).length} claims, the results of ${log.events.length} events as evidence (${words} words); CPU ms after ${longWarmUp} calls`,
  );
  printRows(await measureVerifiers(rounds, log.answer, createResults, log.events, longWarmUp), words);
  printLayer(measureLayer(rounds));
}
