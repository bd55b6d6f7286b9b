// The eval gate of a promotion: runs a dataset with the agent of a release, and passes if enough cases are right.
import { codingAgent } from '../../../coding-agent/index.ts';
import { readSettingsWith } from '../../../coding-agent/settings/index.ts';
import { checkEvalGates, evaluate, formatRate, readDataset, type EvalGate } from '../../../evals/index.ts';
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
  const gates: readonly EvalGate[] = [{ type: 'must' }, { type: 'rate', atLeast, bound: 'value' }];
  return async ({ folder, manifest }) => {
    const cases = await readDataset(file);
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
    const failed = checkEvalGates(report, gates).filter(({ passed }) => !passed);
    const wrong = report.cases.filter(({ right }) => !right).map(({ id }) => id);
    const details = [
      `${file}: ${formatRate(report.right)}`,
      ...failed.map(({ why }) => why.replace(/\.$/, '')),
      ...(wrong.length > 0 ? [`wrong: ${wrong.slice(0, 10).join(', ')}${wrong.length > 10 ? ', …' : ''}`] : []),
      ...(report.withoutResponse > 0 ? [`${report.withoutResponse} without an answer of the model`] : []),
    ];
    return { isPassed: failed.length === 0 && report.withoutResponse === 0, summary: details.join('; ') };
  };
}
