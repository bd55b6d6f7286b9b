// What the deterministic layer costs: a 2,000-word answer against evidence, and the support scorer beside it. npm run bench -- --only verifiers
import { contentWords, createSupportScorer, defaultVerifiers, runVerifiers, splitClaims } from '../src/checks/index.ts';
import type { Claim, Evidence, VerifyContext } from '../src/checks/index.ts';
import type { Event } from '../src/core/index.ts';
import { createLogInput } from './checks.ts';
import { measureCpu } from './measure-cpu.ts';

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

/** Runs the default verifiers over all claims; evidence objects are new each time, so that nothing of the evidence is known before. */
async function verifyAll(claims: readonly Claim[], answer: string, text: string): Promise<number> {
  const evidence: readonly Evidence[] = [{ source: { type: 'given', name: 'evidence' }, text }];
  const context: VerifyContext = { answer, evidence, signal: new AbortController().signal };
  let supported = 0;
  for (const claim of claims)
    if ((await runVerifiers(defaultVerifiers, claim, context)).verdict?.type === 'supported') supported += 1;
  return supported;
}

/** Verifies an answer with the results of a log as evidence, which are new each time. */
async function verifyWithLog(claims: readonly Claim[], answer: string, events: readonly Event[]): Promise<void> {
  const evidence = events.flatMap((event): readonly Evidence[] =>
    event.type === 'tool-ended' ? [{ source: { type: 'event', seq: event.seq }, text: event.text }] : [],
  );
  const context: VerifyContext = { answer, evidence, events, signal: new AbortController().signal };
  for (const claim of claims) await runVerifiers(defaultVerifiers, claim, context);
}

/** Prints what the deterministic layer costs for a 2,000-word answer, in CPU milliseconds and as a multiple of splitting the same texts into words. */
export async function benchVerifiers(rounds: number): Promise<void> {
  const { answer, evidence } = createInput(2000);
  const claims = splitClaims(answer);
  const supported = await verifyAll(claims, answer, evidence);
  const floor = await measureCpu(rounds, () => contentWords(answer).length + contentWords(evidence).length);
  const measured = {
    'words of answer and evidence': floor,
    'claims of the answer': await measureCpu(rounds, () => splitClaims(answer)),
    'default verifiers, new evidence': await measureCpu(rounds, () => verifyAll(claims, answer, evidence)),
    'default verifiers, no evidence': await measureCpu(rounds, () => verifyAll(claims, answer, '')),
    'support scorer': await measureCpu(rounds, () => {
      const score = createSupportScorer(evidence);
      for (const { text } of claims) score(text);
    }),
  };
  const log = createLogInput();
  const logClaims = splitClaims(log.answer);
  const logMeasured = {
    'claims of the answer': await measureCpu(rounds, () => splitClaims(log.answer)),
    'default verifiers, new results': await measureCpu(rounds, () => verifyWithLog(logClaims, log.answer, log.events)),
    'default verifiers, no evidence': await measureCpu(rounds, () => verifyWithLog(logClaims, log.answer, [])),
  };
  console.log(
    `\ndeterministic layer: ${answer.split(' ').length} words, ${claims.length} claims (${supported} supported), ${evidence.split(' ').length} words of evidence; CPU ms, over the words of both`,
  );
  for (const [title, ms] of Object.entries(measured))
    console.log(`  ${title.padEnd(32)} ${ms.toFixed(3)} ms  x${(ms / floor).toFixed(2)}`);
  console.log(
    `\ndeterministic layer: ${log.answer.split(/\s+/).length} words, ${logClaims.length} claims, the results of ${log.events.length} events as evidence; CPU ms`,
  );
  for (const [title, ms] of Object.entries(logMeasured)) console.log(`  ${title.padEnd(32)} ${ms.toFixed(3)} ms`);
}
