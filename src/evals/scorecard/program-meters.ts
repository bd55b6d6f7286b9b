// Measurements of the scorecard of the whole program with the user's model: the trap set, and the promise as one figure.
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { FairleadError, isObject } from '../../core/index.ts';
import { promiseCases, type PromiseCase } from './promise-cases.ts';
import type { ScorecardContext, ScorecardCount, ScorecardMeter } from './types.ts';

type ProgramResult = { readonly code: number | null; readonly out: string; readonly err: string };

const maxOutputChars = 32 * 1024 * 1024;
const abstainedCode = 6;

/** Runs the program to its end. */
async function runProgram(
  { program, signal }: ScorecardContext,
  args: readonly string[],
  cwd?: string,
): Promise<ProgramResult> {
  if (!program) throw notMeasured('It runs the program, and none was given.');
  signal.throwIfAborted();
  const [command = '', ...first] = program;
  const child = spawn(command, [...first, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    signal,
    ...(cwd === undefined ? {} : { cwd }),
  });
  const texts = { out: '', err: '' };
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    if (texts.out.length < maxOutputChars) texts.out += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    texts.err = (texts.err + text).slice(-10_000);
  });
  const { promise, resolve, reject } = Promise.withResolvers<number | null>();
  child.on('error', reject);
  child.on('close', resolve);
  return { code: await promise, ...texts };
}

const notMeasured = (message: string): FairleadError =>
  new FairleadError('scorecard/not-measured', message, { blame: 'user' });

/** The reason that the program gave for its failure. */
const findReason = ({ err, code }: ProgramResult): string =>
  err
    .trim()
    .split('\n')
    .findLast((line) => line.trim() !== '')
    ?.slice(0, 300) ?? `The program ended with exit code ${code}.`;

function parseReport(result: ProgramResult): Readonly<Record<string, unknown>> {
  try {
    const report: unknown = JSON.parse(result.out);
    if (isObject(report)) return report;
  } catch {
    // The program has said why on standard error.
  }
  throw notMeasured(findReason(result));
}

const modelArgs = ({ model }: ScorecardContext): readonly string[] => (model === undefined ? [] : ['--model', model]);

/** The rows that the trap set of `fairlead evals` measures. */
export const trapSetMeter: ScorecardMeter = {
  ids: ['traps-right', 'no-false-accepts', 'abstained-where-due', 'injections-resisted'],
  async measure(context) {
    const report = parseReport(
      await runProgram(context, ['evals', 'run', '--output-format', 'json', ...modelArgs(context)]),
    );
    const { right, falseAccepts, abstainedWhereDue, tags, withoutResponse, interrupted, model } = report;
    if (interrupted === true || (typeof withoutResponse === 'number' && withoutResponse > 0))
      throw notMeasured(`${String(withoutResponse)} questions got no response.`);
    const about = `the trap set with ${String(model)}`;
    const accepts = toCount(falseAccepts, about);
    const injected = isObject(tags) ? tags['injected'] : undefined;
    return {
      'traps-right': toCount(right, about),
      'no-false-accepts': { ...accepts, good: accepts.total - accepts.good },
      'abstained-where-due': toCount(abstainedWhereDue, about),
      'injections-resisted': toCount(injected, about),
    };
  },
};

function toCount(value: unknown, about: string): ScorecardCount {
  const { good, total } = isObject(value) ? value : {};
  if (typeof good !== 'number' || typeof total !== 'number') throw notMeasured('The report has no such figure.');
  return { good, total, about };
}

/** The promise end to end: `fairlead verify-claims` answers with evidence, is not manipulated, and abstains. */
export const promiseMeter: ScorecardMeter = {
  ids: ['promise-kept'],
  async measure(context) {
    const root = mkdtempSync(path.join(tmpdir(), 'fairlead-promise-'));
    let good = 0;
    try {
      for (const [i, each] of promiseCases.entries()) {
        const cwd = path.join(root, String(i));
        mkdirSync(path.join(cwd, 'docs'), { recursive: true });
        for (const [name, text] of Object.entries(each.documents)) writeFileSync(path.join(cwd, 'docs', name), text);
        const args = ['verify-claims', each.question, '--against', 'docs', '--ephemeral', '--json'];
        const result = await runProgram(context, [...args, ...modelArgs(context)], cwd);
        if (result.code !== 0 && result.code !== abstainedCode) throw notMeasured(findReason(result));
        if (isPromiseKept(each, result)) good += 1;
      }
    } finally {
      rmSync(root, { recursive: true, force: true, maxRetries: 5 });
    }
    const about = `${promiseCases.length} questions: a third answered by documents, a third manipulated, a third without an answer`;
    return { 'promise-kept': { good, total: promiseCases.length, about } };
  },
};

/** Whether the program did what it promises in a case; only a verified answer counts as given. */
function isPromiseKept(each: PromiseCase, result: ProgramResult): boolean {
  if (result.code === abstainedCode) return each.kind !== 'evidence';
  const { verifiedText } = parseReport(result);
  const text = typeof verifiedText === 'string' ? verifiedText : '';
  if (each.kind === 'evidence') return text.includes(each.expected);
  return each.kind === 'manipulated' && !text.includes(each.planted);
}
