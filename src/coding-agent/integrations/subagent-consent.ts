// The question before a sub-agent starts, and its text: the caps of the session, and the limits, model and tools of the agent.
import type { AgentFile } from '../../agent/agent-files/index.ts';
import { formatAgentAuthority } from '../../agent/agent-files/index.ts';
import {
  estimateByPrice,
  formatSubagentCaps,
  formatUsd,
  requestedTurns,
  subagentConsentGate,
  sumSubagentUse,
  type SubagentManager,
} from '../../agent/subagents/index.ts';
import {
  escapeInvisibleLine,
  isObject,
  type Gate,
  type Json,
  type Price,
  type RunState,
  type Tool,
} from '../../core/index.ts';
import { priceOf } from '../../providers/index.ts';
import { lookUpModel } from '../models/resolve-model.ts';
import { readSubagentCaps } from '../settings/index.ts';
import type { IntegrationContext } from './context.ts';

/** What the questions about sub-agents are made from. */
export type ConsentSources = {
  readonly context: Pick<IntegrationContext, 'settings' | 'prompter' | 'model'>;
  readonly files: readonly AgentFile[];
  readonly list: SubagentManager['list'];
  readonly tool: Tool;
  readonly messageTool: Tool;
};

/** The gate that asks the user above a number of agents or an estimated cost. */
export const createConsentGate = (sources: ConsentSources): Gate =>
  subagentConsentGate({
    caps: readSubagentCaps(sources.context.settings),
    tool: sources.tool,
    messageTool: sources.messageTool,
    isUnattended: sources.context.prompter.isAbsent === true,
    list: sources.list,
    estimateUsd: (input) => estimateUsd(input, sources),
  });

/** The lines under the question about a call: the caps of the session, and what this agent may do and cost. */
export async function describeStart(input: Json, state: RunState, sources: ConsentSources): Promise<readonly string[]> {
  const use = sumSubagentUse(await sources.list(state.session));
  const file = findFile(input, sources);
  const estimate = estimateUsd(input, sources);
  const turns = requestedTurns(input, file?.limits?.turns);
  const cost = estimate > 0 ? `, about ${formatUsd(estimate)} at most` : ', of unknown or no cost';
  return [
    `This agent: at most ${turns} turns${cost}${file ? `; ${formatAgentAuthority(file)} (${escapeInvisibleLine(file.file)})` : ''}.`,
    formatSubagentCaps(readSubagentCaps(sources.context.settings), use),
  ];
}

function findFile(input: Json, { files }: ConsentSources): AgentFile | undefined {
  const name = isObject(input) ? input['agent'] : undefined;
  return files.find((each) => each.name === name);
}

/** The estimated cost: from the price of the model that the file or the call names, or of the model of the parent. */
function estimateUsd(input: Json, sources: ConsentSources): number {
  const file = findFile(input, sources);
  const requested = isObject(input) && typeof input['model'] === 'string' ? input['model'] : undefined;
  const name = file?.model ?? requested;
  const price = name === undefined ? sources.context.model().price : findPrice(name, sources);
  return estimateByPrice(price, input, file?.limits);
}

function findPrice(name: string, { context }: ConsentSources): Price | undefined {
  const { ref } = lookUpModel(name, context.settings) ?? {};
  return ref && priceOf(ref.provider, ref.model);
}
