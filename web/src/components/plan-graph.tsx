// A plan as a graph: its steps in layers by depth with their states, and lines for the dependencies. Each started step is a link to its run.
import type { JSX } from 'preact';
import type { Plan, PlanStep } from '../api/plan-types.ts';
import { layOutPlan, stepSize, type PlacedStep } from '../state/plan-layout.ts';
import { linkTo } from '../state/router.ts';
import { splitInvisible } from '../text/escape-invisible.ts';
import { formatUsd } from '../text/format.ts';

const marks: Readonly<Record<string, string>> = {
  waiting: '○',
  'under-way': '◐',
  verifying: '◑',
  done: '●',
  failed: '✗',
  blocked: '⊘',
  cancelled: '⊗',
  replaced: '↻',
};

const labels: Readonly<Record<string, string>> = { 'under-way': 'running' };

const maxTaskChars = 26;

/** In a drawing, an invisible character is shown by its escape. */
const escapeInvisible = (text: string): string =>
  splitInvisible(text)
    .map((piece) => piece.text)
    .join('');

/** The graph of a plan with its caps and estimate. */
export function PlanGraph({ plan }: { readonly plan: Plan }): JSX.Element | null {
  if (plan.steps.length === 0) return null;
  const { width, height, steps, lines } = layOutPlan(plan.steps);
  return (
    <section aria-label="Plan" class="plan">
      <h2>Plan</h2>
      <p class="hint">{formatCaps(plan)}</p>
      {plan.stage === 'proposed' ? <p class="hint">The plan waits for consent: {plan.consent}.</p> : null}
      <div class="plan-scroll" role="region" aria-label="Steps of the plan" tabIndex={0}>
        <svg
          width={width}
          height={height}
          viewBox={`0 0 ${width} ${height}`}
          role="group"
          aria-label="Graph of the steps"
        >
          {lines.map(({ key, path }) => (
            <path key={key} d={path} class="plan-line" />
          ))}
          {steps.map((placed) => (
            <StepNode key={placed.step.id} placed={placed} />
          ))}
        </svg>
      </div>
      <Reasons steps={plan.steps} />
    </section>
  );
}

function StepNode({ placed: { step, x, y } }: { readonly placed: PlacedStep }): JSX.Element {
  const { id, task, status, attempt, run, cost } = step;
  const label = labels[status] ?? status;
  const details = [
    label,
    ...(attempt > 1 ? [`attempt ${attempt}`] : []),
    ...(cost.usd > 0 ? [formatUsd(cost.usd)] : []),
  ];
  const shown = escapeInvisible(task.split('\n')[0] ?? '');
  const box = (
    <>
      <title>{escapeInvisible(task)}</title>
      <rect width={stepSize.width} height={stepSize.height} rx={6} />
      <text x={10} y={21} class="plan-name">
        {marks[status] ?? ''} {id.length > 20 ? `${id.slice(0, 19)}…` : id}
      </text>
      <text x={10} y={40}>
        {shown.length > maxTaskChars ? `${shown.slice(0, maxTaskChars - 1)}…` : shown}
      </text>
      <text x={stepSize.width - 10} y={21} class="plan-status" text-anchor="end">
        {details.join(' · ')}
      </text>
    </>
  );
  const needs = step.after.length > 0 ? `, after ${step.after.join(', ')}` : '';
  const name = `Step ${id}: ${details.join(', ')}${needs}`;
  const place = `translate(${x} ${y})`;
  return run === undefined ? (
    <g class={`plan-step is-${status}`} transform={place} role="img" aria-label={name}>
      {box}
    </g>
  ) : (
    <g transform={place}>
      <a class={`plan-step is-${status}`} href={linkTo('runs', run)} aria-label={name}>
        {box}
      </a>
    </g>
  );
}

/** Why steps did not succeed. */
function Reasons({ steps }: { readonly steps: readonly PlanStep[] }): JSX.Element | null {
  const failed = steps.filter(({ status, why }) => why !== undefined && status !== 'done');
  if (failed.length === 0) return null;
  return (
    <ul class="plan-reasons">
      {failed.map(({ id, status, why = '' }) => (
        <li key={id}>
          <b>{id}</b> {labels[status] ?? status}: {escapeInvisible(why)}
        </li>
      ))}
    </ul>
  );
}

function formatCaps({ start, estimate, revision }: Plan): string {
  if (!start) return '';
  const { caps, limits, attempts, replans } = start;
  const parts = [
    ...(revision > 1 ? [`Revision ${revision}`] : []),
    `At most ${caps.steps} steps, depth ${caps.depth}, ${caps.parallel} at a time, ${attempts} ${attempts === 1 ? 'attempt' : 'attempts'} a step, ${replans} ${replans === 1 ? 'new plan' : 'new plans'}, ${limits.usd === undefined ? 'no money limit' : formatUsd(limits.usd)}`,
    ...(estimate
      ? [
          `Estimate: ${estimate.requests} requests, ${estimate.usd === undefined ? 'cost unknown' : formatUsd(estimate.usd)}`,
        ]
      : []),
  ];
  return `${parts.join('. ')}.`;
}
