// The steps of a plan and their states: read from its text, and folded from the events of the session.
import { isObject, type Event, type Json, type View } from '../../core/index.ts';

/** What became of a step. */
export type PlanStepState = 'pending' | 'active' | 'done' | 'failed' | 'skipped';

/** A step of an approved plan. */
export type PlanStep = { readonly text: string; readonly state: PlanStepState; readonly reason?: string };

/** The progress of an approved plan. */
export type PlanProgress = {
  readonly name: string;
  readonly file: string;
  /** The SHA-256 of the approved text. */
  readonly hash: string;
  readonly steps: readonly PlanStep[];
};

/** The key of the annotation that records each change of a step. */
export const planProgressKey = 'plan-progress';

const stepStates: readonly string[] = ['pending', 'active', 'done', 'failed', 'skipped'] satisfies PlanStepState[];

/** Max number of steps of a plan. */
const maxSteps = 200;

/** Reads the steps of a plan: the numbered items at the margin, also of several lists; without one, the items of its check list. Code blocks are ignored. */
export function parsePlanSteps(text: string): readonly string[] {
  const lines = text.replaceAll(/^(```|~~~)[^]*?^\1[^\n]*$/gm, '').split('\n');
  const numbered = lines.flatMap((line) => /^\d{1,3}[.)]\s+(\S.*)$/.exec(line)?.[1]?.trim() ?? []);
  const checked = lines.flatMap((line) => /^[-*] \[[ xX]\]\s+(\S.*)$/.exec(line)?.[1]?.trim() ?? []);
  return (numbered.length > 0 ? numbered : checked).slice(0, maxSteps);
}

/** The progress of the last approved plan; undefined if none was approved. */
export const planProgressView: View<PlanProgress | undefined> = {
  initial: undefined,
  on: (state, event: Event) =>
    event.type === 'annotation-added' && event.key === planProgressKey ? (toProgress(event.value) ?? state) : state,
};

function toProgress(value: Json): PlanProgress | undefined {
  if (!isObject(value)) return undefined;
  const { name, file, hash, steps } = value;
  const isStep = (step: unknown): boolean =>
    isObject(step) && typeof step['text'] === 'string' && stepStates.includes(String(step['state']));
  const isValid =
    [name, file, hash].every((each) => typeof each === 'string') && Array.isArray(steps) && steps.every(isStep);
  return isValid ? (value as unknown as PlanProgress) : undefined;
}

const stateMarks: Readonly<Record<PlanStepState, string>> = {
  pending: '☐',
  active: '▶',
  done: '☑',
  failed: '✗',
  skipped: '–',
};

/** Formats the steps as lines, with their states. */
export const formatPlanProgress = ({ steps }: Pick<PlanProgress, 'steps'>): string =>
  steps
    .map(({ text, state, reason }, at) => `${stateMarks[state]} ${at + 1}. ${text}${reason ? ` (${reason})` : ''}`)
    .join('\n');
