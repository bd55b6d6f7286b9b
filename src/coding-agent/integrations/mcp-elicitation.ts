// What MCP servers may ask of the person: answers to a form, an answer of their model, and to log in on a page.
import {
  FairleadError,
  messageText,
  createPersistentList,
  escapeInvisibleLine,
  type Chunk,
  type ModelRequest,
} from '../../core/index.ts';
import type { McpClientHandlers, SamplingResult, SamplingRequest } from '../../tools/mcp/index.ts';
import { openInBrowser } from './open-browser.ts';
import { fillMcpForm } from './mcp-form.ts';
import type { IntegrationContext, UserPrompter } from './context.ts';

/** Tokens that all servers together may have a model write in a session. */
const maxSampledTokens = 20_000;
/** Milliseconds after which nobody waits for a login any more. */
const loginTimeoutMs = 300_000;

/**
 * Who answers the servers. Where nobody is there they are turned down one by one, and not told at once that they cannot ask: what tools a server
 * has may depend on that, and it should have the same ones in a pipe as at the prompt.
 */
export function createMcpAnswerers({
  prompter,
  model,
}: Pick<IntegrationContext, 'prompter' | 'model'>): McpClientHandlers {
  let left = maxSampledTokens;
  return {
    async sample(wish, signal) {
      const most = Math.min(wish.maxTokens, left);
      if (most <= 0)
        throw refusedError(`This session answers no more: its ${maxSampledTokens} tokens for MCP servers are used up.`);
      const question = `The MCP server ${escapeInvisibleLine(wish.server)} wants an answer of your model, of at most ${most} tokens. Send it this?`;
      if (!(await prompter.confirm(question, formatSamplingRequest(wish), signal)))
        throw refusedError('The person refused.');
      left -= most;
      const answer = await sampleModel({ ...wish, maxTokens: most }, model(), signal);
      left += Math.max(0, most - (answer.spent?.output ?? most));
      return answer;
    },
    async elicit(question, signal) {
      if (question.type === 'form') return fillMcpForm(prompter, question, signal);
      const ask = `The MCP server ${escapeInvisibleLine(question.server)} asks you to open a page: ${question.message}`;
      if (!(await prompter.confirm(ask, question.url, signal))) return { type: 'decline' };
      if (!openInBrowser(question.url)) prompter.notify(`Open this page: ${question.url}`);
      return { type: 'accept' };
    },
  };
}

const formatSamplingRequest = ({ system, messages }: SamplingRequest): string =>
  [
    ...(system === undefined ? [] : [`system: ${system}`]),
    ...messages.map(({ role, text }) => `${role}: ${text}`),
  ].join('\n');

async function sampleModel(
  wish: SamplingRequest,
  provider: ReturnType<IntegrationContext['model']>,
  signal: AbortSignal,
): Promise<SamplingResult> {
  const request: ModelRequest = {
    system: wish.system ?? '',
    tools: [],
    messages: createPersistentList(
      wish.messages.map(({ role, text }) => ({ role, parts: [{ type: 'text' as const, text }] })),
    ),
    toolChoice: 'auto',
    settings: { reasoning: 'none', maxOutputTokens: wish.maxTokens },
  };
  let end: (Chunk & { readonly type: 'end' }) | undefined;
  for await (const chunk of provider.stream(request, signal)) if (chunk.type === 'end') end = chunk;
  if (!end) throw refusedError('The model gave no answer.');
  const { message, model, usage, usd } = end;
  const { input = 0, output = wish.maxTokens } = usage;
  const cost = usd === undefined ? { turnsWithoutPrice: 1 } : { usd };
  return { text: messageText(message), model, spent: { turns: 1, input, output, ...cost } };
}

/** Shows a person the page where they log in; a browser is opened only where they say so. Nobody waits for that: they may open it themselves, and until the signal comes they are asked. */
export function offerMcpLogin(
  person: UserPrompter,
  server: string,
  url: string,
  signal: AbortSignal = AbortSignal.timeout(loginTimeoutMs),
): void {
  person.notify(`The MCP server ${escapeInvisibleLine(server)} asks you to log in: ${escapeInvisibleLine(url)}`);
  const open = async (): Promise<void> => {
    if (await person.confirm('Open the page in your browser?', undefined, signal)) openInBrowser(url);
  };
  // Where they cannot be asked, the address was said.
  open().catch(() => undefined);
}

/** What stands in the place of a login while nobody can be kept waiting for one. */
export function throwMcpLoginNeeded(server: string): never {
  throw new FairleadError('mcp/login-needed', `The MCP server ${escapeInvisibleLine(server)} asks for a login.`, {
    blame: 'user',
    hint: `Log in: fairlead mcp login ${escapeInvisibleLine(server)}`,
  });
}

const refusedError = (why: string): FairleadError => new FairleadError('mcp/refused', why, { blame: 'user' });
