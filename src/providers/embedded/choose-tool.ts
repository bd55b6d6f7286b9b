// Whether to answer in words or with which tool: a small model cannot say it well, but it knows which request a tool would get.
import type { ModelRequest, ToolSpec } from '../../core/index.ts';
import { lastUserRequest } from './prompt.ts';

/** What the model is to write. */
export type ResponseAction = { readonly type: 'words' } | { readonly type: 'call'; readonly tool: ToolSpec };

/**
 * How likely a request is after the description of a tool, or of mere words; the logarithm of a probability.
 * Asked directly, a model of this size names any tool; asked how well the request follows from each description, it is mostly right.
 */
export type LikelihoodScorer = (request: string, tool: ToolSpec | undefined) => Promise<number>;

/** By how much a tool must beat mere words: below it tools are used for greetings, far above it not at all. */
const minLikelihoodMargin = 3;

/** Decides what to write. A tool is used once for what a person asked: a model that may repeat itself does. */
export async function chooseAction(request: ModelRequest, weigh: LikelihoodScorer): Promise<ResponseAction> {
  const { tools, toolChoice } = request;
  if (toolChoice === 'none' || tools.length === 0) return { type: 'words' };
  if (typeof toolChoice === 'object') {
    const tool = tools.find(({ name }) => name === toolChoice.tool);
    return tool ? { type: 'call', tool } : { type: 'words' };
  }
  const { text, used } = lastUserRequest(request);
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
