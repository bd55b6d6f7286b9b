// Places the steps of a plan in layers by their depth, and the lines between them.
import type { PlanStep } from '../api/plan-types.ts';

/** The size of a step in the drawing. */
export const stepSize = { width: 190, height: 54 } as const;

const gap = { x: 56, y: 16 } as const;
const margin = 4;

/** A step with its place. */
export type PlacedStep = { readonly step: PlanStep; readonly x: number; readonly y: number };

/** The drawing of a plan: places in the order of the layers, and a path for each dependency. */
export type PlanLayout = {
  readonly width: number;
  readonly height: number;
  readonly steps: readonly PlacedStep[];
  readonly lines: readonly { readonly key: string; readonly path: string }[];
};

/** Lays out a plan from left to right. */
export function layOutPlan(steps: readonly PlanStep[]): PlanLayout {
  const layers = Map.groupBy(steps, ({ depth }) => depth);
  const placed = [...layers].flatMap(([depth, layer]) =>
    layer.map((step, i): PlacedStep => ({
      step,
      x: margin + (depth - 1) * (stepSize.width + gap.x),
      y: margin + i * (stepSize.height + gap.y),
    })),
  );
  const inOrder = placed.toSorted((a, b) => a.x - b.x || a.y - b.y);
  const byId = new Map(placed.map((each) => [each.step.id, each]));
  const lines = inOrder.flatMap((to) =>
    to.step.after.flatMap((id) => {
      const from = byId.get(id);
      return from ? [{ key: `${id} ${to.step.id}`, path: toPath(from, to) }] : [];
    }),
  );
  const right = placed.reduce((most, { x }) => Math.max(most, x), 0);
  const bottom = placed.reduce((most, { y }) => Math.max(most, y), 0);
  return { width: right + stepSize.width + margin, height: bottom + stepSize.height + margin, steps: inOrder, lines };
}

function toPath(from: PlacedStep, to: PlacedStep): string {
  const start = { x: from.x + stepSize.width, y: from.y + stepSize.height / 2 };
  const end = { x: to.x, y: to.y + stepSize.height / 2 };
  const middle = (start.x + end.x) / 2;
  return `M${start.x} ${start.y}C${middle} ${start.y} ${middle} ${end.y} ${end.x} ${end.y}`;
}
