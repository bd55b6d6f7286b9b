// The eval gate of a promotion: runs a dataset with the agent of a release, and passes if enough cases are right.
import { readFileSync } from 'node:fs';
import { codingAgent } from '../../../coding-agent/index.ts';
import { readSettingsWith } from '../../../coding-agent/settings/index.ts';
import { evaluate, formatRate, parseDataset } from '../../../evals/index.ts';
import type { ReleaseGate } from '../../../coding-agent/releases/index.ts';

/** The options of an eval gate. */
export type EvalGateOptions = {
  readonly file: string;
  /** The share of the trials that must be right. */
  readonly atLeast: number;
  readonly trials: number;
  readonly onProgress: (done: number, total: number) => void;
};

/** Creates the gate of a dataset. A case marked `must` must be right in every trial; a trial without an answer of the model fails the gate. */
export function createEvalGate({ file, atLeast, trials, onProgress }: EvalGateOptions): ReleaseGate {
  const cases = parseDataset(readFileSync(file, 'utf8'), file);
  const mustPass = new Set(cases.flatMap(({ id, must }) => (must ? [id] : [])));
  return async ({ folder, manifest }) => {
    let done = 0;
    const report = await evaluate({
      cases,
      trials,
      dataset: file,
      agent: (cwd) =>
        codingAgent({
          cwd,
          settings: readSettingsWith(cwd, folder),
          permissions: false,
          ...(manifest.model ? { model: manifest.model.id } : {}),
        }),
      onResult: () => onProgress(++done, cases.length),
    });
    const broken = report.cases.filter(({ id, right }) => mustPass.has(id) && !right).map(({ id }) => id);
    const wrong = report.cases.filter(({ right }) => !right).map(({ id }) => id);
    const isPassed = broken.length === 0 && report.withoutResponse === 0 && (report.right.rate ?? 0) >= atLeast;
    const details = [
      `${file}: ${formatRate(report.right)}`,
      ...(wrong.length > 0 ? [`wrong: ${wrong.slice(0, 10).join(', ')}${wrong.length > 10 ? ', …' : ''}`] : []),
      ...(report.withoutResponse > 0 ? [`${report.withoutResponse} without an answer of the model`] : []),
    ];
    return { isPassed, summary: details.join('; ') };
  };
}
