// Creates the gate of the flow policy with the declarations of all tools of an agent.
import type { Gate, RunState } from '../../core/index.ts';
import { collectDeclarations } from './collect-declarations.ts';
import { createFlowGate } from './flow-gate.ts';
import type { FlowLog } from './flow-log.ts';
import type { FlowPolicyOptions } from './flow-policy.ts';
import { createFlowFold, type FlowFold } from './fold-log.ts';
import { loadYaml } from './parse-structure.ts';

/** Creates the gate, and the fold of the log that it reads. */
export async function loadFlowGate(
  options: FlowPolicyOptions,
  readLog: (state: RunState) => FlowLog,
): Promise<{ readonly gate: Gate; readonly fold: FlowFold }> {
  const given = typeof options.declarations === 'function' ? await options.declarations() : options.declarations;
  const declarations = await collectDeclarations({ tools: options.tools, declarations: given });
  if (
    declarations.collected.some(
      ({ origin, declaration: { output = 'untrusted' } }) => origin !== 'built-in' && output !== 'untrusted',
    )
  )
    await loadYaml();
  const { own, roots, isPrivateText, mode, review, detectorThreshold } = options;
  const fold = createFlowFold({
    declarations,
    ...(own ? { own } : {}),
    ...(roots ? { roots } : {}),
    ...(isPrivateText ? { isPrivateText } : {}),
  });
  const gate = createFlowGate(readLog, {
    fold,
    declarations,
    mode,
    ...(review ? { review } : {}),
    ...(detectorThreshold === undefined ? {} : { detectorThreshold }),
  });
  return { gate, fold };
}
