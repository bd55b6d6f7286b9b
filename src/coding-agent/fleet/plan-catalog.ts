// Describes what the plan of a queued run can use: the tools of its directory, and the models that do and verify the steps.
import type { FleetRun, JsonObject, Provider } from '../../core/index.ts';
import { listToolNames, type AgentFactory } from '../../fleet/index.ts';
import type { DescribeCatalog, PlanModel } from '../../fleet/plan/index.ts';

/** Creates a description with the agents of a factory: they are opened as for a step, and closed again. */
export const createPlanDescriber =
  (createAgent: AgentFactory): DescribeCatalog =>
  async (run, verifier) => {
    const own = await openAgent(createAgent, run, {});
    if (verifier === undefined) return own;
    const { model } = await openAgent(createAgent, run, { model: verifier, tools: false, planRole: 'verifier' });
    return { ...own, verifier: model };
  };

async function openAgent(
  createAgent: AgentFactory,
  run: FleetRun,
  settings: JsonObject,
): Promise<{ readonly tools: readonly string[]; readonly model: PlanModel }> {
  const step = { ...run, kind: 'run', settings: { ...run.settings, ...settings } };
  const agent = await createAgent(step, new AbortController().signal, (provider) => provider);
  try {
    const { tools, provider } = agent.parts;
    return { tools: listToolNames(tools), model: toPlanModel(provider) };
  } finally {
    await agent.close();
  }
}

const toPlanModel = ({ family, model, price }: Provider): PlanModel => ({ family, model, ...(price ? { price } : {}) });
