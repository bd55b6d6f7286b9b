// Shows a plan while it runs: redrawn in place on a terminal, one line for each change elsewhere.
import { escapeInvisible } from '../../../core/index.ts';
import type { PlanStepView, PlanView } from '../../../fleet/index.ts';
import { formatEstimate, formatPlan } from './format-plan.ts';

/** Where a plan is shown. */
export type PlanScreen = {
  /** Shows the plan as it is now. */
  show(plan: PlanView): void;
  /** Keeps what is shown: what follows is written below it. */
  finish(): void;
};

type Output = Pick<NodeJS.WriteStream, 'write'> & {
  readonly isTTY?: boolean;
  readonly columns?: number;
  readonly rows?: number;
};

/** Creates the screen of a plan; without an output nothing is shown. */
export function createPlanScreen(output: Output | undefined): PlanScreen {
  if (!output) return { show: () => {}, finish: () => {} };
  return output.isTTY ? createLiveScreen(output) : createLineScreen(output);
}

function createLiveScreen(output: Output): PlanScreen {
  let last = '';
  let lines = 0;
  return {
    show(plan) {
      const { columns = 100, rows = 24 } = output;
      const text = formatPlan(plan, columns - 1);
      if (text === last) return;
      last = text;
      // Lines that have scrolled off the screen cannot be drawn again.
      const shown = text.split('\n').slice(0, Math.max(3, rows - 2));
      const up = lines === 0 ? '' : `\u001B[${lines}A\r\u001B[J`;
      output.write(`${up}${shown.map((line) => escapeInvisible(line)).join('\n')}\n`);
      lines = shown.length;
    },
    finish() {
      lines = 0;
    },
  };
}

function createLineScreen(output: Output): PlanScreen {
  let shown = '';
  const statuses = new Map<string, string>();
  return {
    show(plan) {
      const { stage, revision, steps, estimate } = plan;
      if (steps.length > 0 && shown !== `${revision}`) {
        shown = `${revision}`;
        output.write(`${escapeInvisible(formatPlan(plan))}\n`);
        for (const step of steps) statuses.set(step.id, describeStep(step));
      }
      for (const step of steps) {
        const now = describeStep(step);
        if (statuses.get(step.id) !== now) output.write(`${escapeInvisible(`${step.id}: ${now}`)}\n`);
        statuses.set(step.id, now);
      }
      if (stage === 'proposed' && estimate && statuses.get('') !== stage)
        output.write(`The plan waits for consent: ${plan.consent}. Estimate: ${formatEstimate(estimate)}.\n`);
      statuses.set('', stage);
    },
    finish() {},
  };
}

const describeStep = ({ status, attempt, why }: PlanStepView): string =>
  `${status}${attempt > 1 ? ` (attempt ${attempt})` : ''}${why === undefined || status === 'done' ? '' : `: ${why.split('\n')[0]}`}`;
