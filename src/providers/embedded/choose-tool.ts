// Chooses between a text answer and a tool call by the likelihood of the request after each tool description.
import type { ModelRequest, ToolSpec } from '../../core/index.ts';
import { lastUserRequest } from './prompt.ts';

/** What the model generates: text, or a call of a tool. */
export type ResponseAction = { readonly type: 'words' } | { readonly type: 'call'; readonly tool: ToolSpec };

/**
 * Returns the log probability of a request after the description of a tool, or of a text answer.
 * A small model selects tools badly when asked directly; these likelihoods are mostly right.
 */
export type LikelihoodScorer = (request: string, tool: ToolSpec | undefined) => Promise<number>;

/** The min advantage of a tool over text: with a lower value tools are used for greetings, with a much higher one not at all. */
const minLikelihoodMargin = 3;

/** Chooses text or a tool. A tool is used once per user request, because a small model repeats itself. */
export async function chooseAction(
  request: ModelRequest,
  weigh: LikelihoodScorer,
  maxCalls: number = Number.POSITIVE_INFINITY,
): Promise<ResponseAction> {
  const { tools, toolChoice } = request;
  if (toolChoice === 'none' || tools.length === 0) return { type: 'words' };
  if (typeof toolChoice === 'object') {
    const tool = tools.find(({ name }) => name === toolChoice.tool);
    return tool ? { type: 'call', tool } : { type: 'words' };
  }
  const { text, used } = lastUserRequest(request);
  if (toolChoice === 'auto' && used.size >= maxCalls) return { type: 'words' };
  const unused = tools.filter(({ name }) => !used.has(name));
  const open = toolChoice === 'required' && unused.length === 0 ? tools : unused;
  if (open.length === 0 || (text === '' && toolChoice === 'auto')) return { type: 'words' };
  const [first] = open;
  if (toolChoice === 'required' && open.length === 1 && first) return { type: 'call', tool: first };
  let best: { readonly tool: ToolSpec; readonly weight: number } | undefined;
  for (const tool of open) {
    const weight = await weigh(text, tool);
    if (!best || weight > best.weight) best = { tool, weight };
  }
  if (!best) return { type: 'words' };
  if (toolChoice === 'required') return { type: 'call', tool: best.tool };
  return best.weight - (await weigh(text, undefined)) >= minLikelihoodMargin
    ? { type: 'call', tool: best.tool }
    : { type: 'words' };
}
