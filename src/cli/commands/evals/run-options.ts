// The options of `evals run`: how they are parsed, and the gates they stand for.
import type { EvalGate } from '../../../evals/index.ts';
import { parseShare } from '../../args/parse-share.ts';
import type { ParsedOptions } from '../../args/with-usage.ts';

/** The usage of `evals run`. */
export const runUsage = `Usage: fairlead evals [run] [<dataset>] [--model <name>] [--against <name>] [--tag <tag>] [--trials <n>] [--parallel <n>]
       [--judge <name>]... [--allow-same-family] [--auto-approve] [--results <file.sqlite>] [--resume]
       [--at-least [<tag>=]<rate>]... [--at-least-lower [<tag>=]<rate>]... [--max-cost <usd>] [--max-time <seconds>]
       [--baseline <report.json>] [--output-format text|json] [--report <file>]...
       fairlead evals --show     print the built-in cases as lines of a dataset

A dataset is a file .jsonl, .csv or .md, or a folder of them. Without one the built-in trap set is used, and the results are
saved for the scorecard. --against runs a second model on the same cases and compares them. --report writes a file; its ending
says the format: .json, .md, .xml (JUnit) or .html.`;

/** The options of `evals run`, as `parseArgs` expects them. */
export const runOptions = {
  model: { type: 'string', short: 'm' },
  against: { type: 'string' },
  tag: { type: 'string' },
  trials: { type: 'string' },
  parallel: { type: 'string' },
  judge: { type: 'string', multiple: true },
  'allow-same-family': { type: 'boolean', default: false },
  'auto-approve': { type: 'boolean', default: false },
  results: { type: 'string' },
  resume: { type: 'boolean', default: false },
  'at-least': { type: 'string', multiple: true },
  'at-least-lower': { type: 'string', multiple: true },
  'max-cost': { type: 'string' },
  'max-time': { type: 'string' },
  baseline: { type: 'string' },
  'output-format': { type: 'string', default: 'text' },
  report: { type: 'string', multiple: true },
  show: { type: 'boolean', default: false },
} as const;

/** The parsed values of the options. */
export type RunValues = ParsedOptions<typeof runOptions>;

/** Parses a whole number of at least 1; 1 if it is absent. */
export function parseCount(name: string, text: string | undefined): number {
  if (text === undefined) return 1;
  const count = Number(text);
  if (/^\d{1,6}$/.test(text) && count >= 1) return count;
  throw new TypeError(`--${name} is a whole number of at least 1, not "${text}".`);
}

/** Returns the gates that the options name; cases with `must` are always a gate. */
export function parseGates(values: RunValues): readonly EvalGate[] {
  return [
    { type: 'must' },
    ...(values['at-least'] ?? []).map((text) => parseRateGate('at-least', text, 'value')),
    ...(values['at-least-lower'] ?? []).map((text) => parseRateGate('at-least-lower', text, 'lower')),
    ...parseLimit('max-cost', values['max-cost']).map((maxUsd): EvalGate => ({ type: 'cost', maxUsd })),
    ...parseLimit('max-time', values['max-time']).map((s): EvalGate => ({ type: 'latency', maxMs: 1000 * s })),
  ];
}

function parseRateGate(name: string, text: string, bound: 'value' | 'lower'): EvalGate {
  const at = text.lastIndexOf('=');
  const atLeast = parseShare(text.slice(at + 1));
  if (atLeast === undefined || at === 0)
    throw new TypeError(`--${name} is a rate from 0 to 1, or a percentage, not "${text}".`);
  return { type: 'rate', atLeast, bound, ...(at > 0 ? { tag: text.slice(0, at) } : {}) };
}

function parseLimit(name: string, text: string | undefined): readonly number[] {
  if (text === undefined) return [];
  const limit = Number(text);
  if (text.trim() !== '' && Number.isFinite(limit) && limit >= 0) return [limit];
  throw new TypeError(`--${name} is a number of at least 0, not "${text}".`);
}
