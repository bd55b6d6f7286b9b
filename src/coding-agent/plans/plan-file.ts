// Plan files: one Markdown file for each plan, in the state folder of the user, where no model and no project can write.
import { hash } from 'node:crypto';
import path from 'node:path';
import { FairleadError } from '../../core/index.ts';
import { readTextIfExists, writeTextAtomic } from '../../stores/index.ts';
import { parsePlanSteps } from './plan-steps.ts';

/** A plan as its file says at one moment. */
export type Plan = {
  readonly name: string;
  readonly file: string;
  readonly text: string;
  /** The SHA-256 of the text: an approval is for this text alone. */
  readonly hash: string;
  /** The texts of the steps, in order. */
  readonly steps: readonly string[];
};

/** Max characters of a plan. */
const maxPlanChars = 200_000;

/** Returns the file of a plan. Plans of each working folder are in a folder of their own. */
export function getPlanFile(stateDir: string, cwd: string, name: string): string {
  const folder = hash('sha256', path.resolve(cwd)).slice(0, 16);
  const plain = name.replaceAll(/[^\w-]+/g, '_').slice(0, 100);
  return path.join(stateDir, 'plans', folder, `${plain || 'plan'}.md`);
}

/** Writes the text of a plan and returns the plan. */
export function writePlan(file: string, text: string): Plan {
  writeTextAtomic(file, `${text.trim()}\n`);
  return readPlan(file);
}

/** Reads a plan as its file is now. Throws if there is none, if it is too long, or if it has no step. */
export function readPlan(file: string): Plan {
  const text = readTextIfExists(file);
  if (text === undefined) throw planError('no-file', `There is no plan in ${file}.`);
  if (text.length > maxPlanChars)
    throw planError('too-long', `The plan in ${file} is longer than ${maxPlanChars} characters.`);
  const steps = parsePlanSteps(text);
  if (steps.length === 0)
    throw planError(
      'no-steps',
      `The plan in ${file} has no steps: write them as a numbered list, such as "1. Add the test".`,
    );
  return { name: path.basename(file, '.md'), file, text, hash: hash('sha256', text), steps };
}

const planError = (code: string, sentence: string): FairleadError =>
  new FairleadError(`plan/${code}`, sentence, { blame: 'user' });
