// Formats a plan as text: its caps and estimate, and a tree of its steps with their status, dependencies and cost.
import { escapeInvisibleLine } from '../../../core/index.ts';
import type { PlanEstimate, PlanStepView, PlanView, StepStatus } from '../../../fleet/index.ts';

const marks: Readonly<Record<StepStatus, string>> = {
  waiting: '○',
  'under-way': '◐',
  verifying: '◑',
  done: '●',
  failed: '✗',
  blocked: '⊘',
  cancelled: '⊗',
  replaced: '↻',
};

/** The statuses that are shown with another word. */
const statusLabels: Partial<Readonly<Record<StepStatus, string>>> = { 'under-way': 'running' };

const statusWidth = 9;
const minTaskWidth = 20;

/** Formats a plan; `width` is the number of columns. */
export function formatPlan(plan: PlanView, width = 100): string {
  if (plan.steps.length === 0) return [formatStage(plan), ...formatCaps(plan)].join('\n');
  const roots = plan.steps.filter(({ after }) => after.length === 0);
  const idWidth = plan.steps.reduce((most, { id, depth }) => Math.max(most, id.length + 2 * (depth - 1)), 0);
  const drawn = new Set<string>();
  const draw = (step: PlanStepView): readonly string[] => {
    if (drawn.has(step.id)) return [];
    drawn.add(step.id);
    // A step is drawn below the last step it needs, so that it is one level deeper than all of them.
    const below = plan.steps.filter(({ after, depth }) => after.includes(step.id) && depth === step.depth + 1);
    return [...formatStep(step, idWidth, width), ...below.flatMap(draw)];
  };
  const lines = [...roots.flatMap(draw), ...plan.steps.flatMap(draw)];
  return [formatStage(plan), ...formatCaps(plan), '', ...lines].join('\n');
}

const stageLabels: Readonly<Record<PlanView['stage'], string>> = {
  planning: 'is being planned',
  proposed: 'waits for consent',
  running: 'is running',
  answering: 'combines the results',
  ended: 'has ended',
};

function formatStage({ run, stage, revision, steps, cost }: PlanView): string {
  const done = steps.filter(({ status }) => status === 'done').length;
  const counted = steps.filter(({ status }) => status !== 'replaced').length;
  const progress = counted === 0 ? '' : `, ${done} of ${counted} steps done, ${formatDollars(cost.usd)}`;
  return `Plan ${escapeInvisibleLine(run)} ${stageLabels[stage]}${revision > 1 ? ` (revision ${revision})` : ''}${progress}`;
}

function formatCaps({ start, estimate }: PlanView): readonly string[] {
  if (!start) return [];
  const { caps, limits, attempts, replans, model, verifier } = start;
  const parts = [
    `${caps.steps} steps`,
    `depth ${caps.depth}`,
    `${caps.parallel} at a time`,
    limits.usd === undefined ? 'no money limit' : formatDollars(limits.usd),
    `${attempts} ${attempts === 1 ? 'attempt' : 'attempts'} a step`,
    `${replans} new ${replans === 1 ? 'plan' : 'plans'}`,
  ];
  const models = [model, verifier === undefined ? undefined : `verified by ${verifier}`].filter(Boolean).join(', ');
  return [
    `  At most  ${parts.join(', ')}`,
    ...(estimate ? [`  Estimate ${formatEstimate(estimate)}`] : []),
    ...(models === '' ? [] : [`  Models   ${escapeInvisibleLine(models)}`]),
  ];
}

/** Formats an estimate; it is a rough figure. */
export function formatEstimate({ requests, tokens, usd, maxUsd }: PlanEstimate): string {
  const size = `${requests} requests, ${tokens} tokens`;
  if (usd === undefined || maxUsd === undefined) return `${size}, cost unknown: a model has no known price`;
  return `${size}, about ${formatDollars(usd)}, with all attempts ${formatDollars(maxUsd)}`;
}

const formatDollars = (usd: number): string => `$${usd.toFixed(usd === 0 || usd >= 1 ? 2 : 4)}`;

function formatStep(step: PlanStepView, idWidth: number, width: number): readonly string[] {
  const { id, status, task, after, depth, attempt, why, verify, agent, tools, cost } = step;
  const indent = '  '.repeat(depth - 1);
  const details = [
    ...(after.length > 0 ? [`after ${after.join(', ')}`] : []),
    ...(verify ? ['verified'] : []),
    ...(agent === undefined ? [] : [`agent ${agent}`]),
    ...(tools ? [`tools ${tools.join(', ') || 'none'}`] : []),
    ...(attempt > 1 ? [`attempt ${attempt}`] : []),
    ...(cost.usd > 0 ? [formatDollars(cost.usd)] : []),
  ];
  const start = `  ${marks[status]} ${(statusLabels[status] ?? status).padEnd(statusWidth)} ${`${indent}${id}`.padEnd(idWidth)}  `;
  // A name of a tool is text of a model. A line that is wider than the screen could not be drawn again in place.
  const most = Math.max(minTaskWidth, width - start.length - minTaskWidth - '  ()'.length);
  const end = details.length > 0 ? `  (${cut(escapeInvisibleLine(details.join('; ')), most)})` : '';
  const room = Math.max(minTaskWidth, width - start.length - end.length);
  const line = start + cut(task, room) + end;
  const hasReason = why !== undefined && status !== 'done' && status !== 'replaced';
  const pad = ' '.repeat(start.length);
  return [line.trimEnd(), ...(hasReason ? [`${pad}${cut(why, Math.max(minTaskWidth, width - pad.length))}`] : [])];
}

function cut(text: string, room: number): string {
  const line = escapeInvisibleLine(text.trim().split('\n')[0] ?? '');
  return line.length > room ? `${line.slice(0, room - 1)}…` : line;
}
