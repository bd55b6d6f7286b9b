// The run handlers of a worker: single runs, plans and verifications with the coding agent.
import path from 'node:path';
import type { FleetRun } from '../../core/index.ts';
import { createOrchestrationHandler, createAgentRunHandler, type RunHandler } from '../../fleet/index.ts';
import { planOrchestration } from '../../fleet/plan/index.ts';
import { createVerifyOrchestration, type VerifyOptions } from '../../fleet/verify/index.ts';
import { readKnownModels } from '../state/index.ts';
import { readSettings } from '../settings/index.ts';
import { createRunAgentFactory } from './agent-factory.ts';
import { getDefaultModel } from '../models/default-model.ts';

/** The run handlers of a worker, by the kind of run. `model` is the model of runs that name none. */
export const createRunHandlers = (
  notify: (text: string) => void,
  model?: string,
): Readonly<Record<string, RunHandler>> => ({
  run: createAgentRunHandler(createRunAgentFactory(notify, model)),
  plan: createOrchestrationHandler(planOrchestration),
  verify: createOrchestrationHandler(createVerifyOrchestration({ models: createVerifierModels(model) })),
});

/** The default model of a run, and the models of the user's list that may verify its answer. */
const createVerifierModels =
  (named: string | undefined): VerifyOptions['models'] =>
  async ({ settings: { folder } }: FleetRun) => {
    const settings = readSettings(typeof folder === 'string' ? { cwd: path.resolve(folder) } : {});
    const author = getDefaultModel(settings, named);
    const others = (readKnownModels(settings) ?? []).map(({ id }) => id);
    return { others, ...(author === undefined ? {} : { author }) };
  };
