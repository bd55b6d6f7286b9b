// Handles the requests of MCP servers to the user: forms, sampling from the model, and logins on a web page.
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

/** The maximum number of output tokens that all servers together may sample in a session. */
const maxSampledTokens = 20_000;
/** The timeout of a login in milliseconds. */
const loginTimeoutMs = 300_000;

/**
 * Creates the handlers for requests of servers. Without a user each request is declined, but the capability is still announced: the tools of a server
 * may depend on it, and they must be the same with and without a terminal.
 */
export function createMcpAnswerers({
  prompter,
  model,
}: Pick<IntegrationContext, 'prompter' | 'model'>): McpClientHandlers {
  let left = maxSampledTokens;
  return {
    async sample(request, signal) {
      const maxTokens = Math.min(request.maxTokens, left);
      if (maxTokens <= 0)
        throw refusedError(
          `This session answers no more sampling requests: its ${maxSampledTokens} tokens for MCP servers are used up.`,
        );
      const question = `The MCP server ${escapeInvisibleLine(request.server)} wants an answer of your model, of at most ${maxTokens} tokens. Send it this?`;
      if (!(await prompter.confirm(question, formatSamplingRequest(request), signal)))
        throw refusedError('The user refused.');
      left -= maxTokens;
      const result = await sampleModel({ ...request, maxTokens }, model(), signal);
      left += Math.max(0, maxTokens - (result.spent?.output ?? maxTokens));
      return result;
    },
    async elicit(question, signal) {
      if (question.type === 'form') return fillMcpForm(prompter, question, signal);
      const title = `The MCP server ${escapeInvisibleLine(question.server)} asks you to open a page: ${question.message}`;
      if (!(await prompter.confirm(title, question.url, signal))) return { type: 'decline' };
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
  sampling: SamplingRequest,
  provider: ReturnType<IntegrationContext['model']>,
  signal: AbortSignal,
): Promise<SamplingResult> {
  const request: ModelRequest = {
    system: sampling.system ?? '',
    tools: [],
    messages: createPersistentList(
      sampling.messages.map(({ role, text }) => ({ role, parts: [{ type: 'text' as const, text }] })),
    ),
    toolChoice: 'auto',
    settings: { reasoning: 'none', maxOutputTokens: sampling.maxTokens },
  };
  let end: (Chunk & { readonly type: 'end' }) | undefined;
  for await (const chunk of provider.stream(request, signal)) if (chunk.type === 'end') end = chunk;
  if (!end) throw refusedError('The model gave no answer.');
  const { message, model, usage, usd } = end;
  const { input = 0, output = sampling.maxTokens } = usage;
  const cost = usd === undefined ? { turnsWithoutPrice: 1 } : { usd };
  return { text: messageText(message), model, spent: { turns: 1, input, output, ...cost } };
}

/** Asks whether the user wants to log in to a server that requires it. */
export const confirmMcpLogin = (prompter: UserPrompter, server: string): Promise<boolean> =>
  prompter.confirm(
    `The MCP server ${escapeInvisibleLine(server)} requires a login. Ask it for its login page?`,
    undefined,
    AbortSignal.timeout(loginTimeoutMs),
  );

/** Shows the user the login page of a server, and opens a browser if they agree. Does not wait for the answer: the user may open the page without it. */
export function offerMcpLogin(
  prompter: UserPrompter,
  server: string,
  url: string,
  signal: AbortSignal = AbortSignal.timeout(loginTimeoutMs),
): void {
  prompter.notify(`The MCP server ${escapeInvisibleLine(server)} asks you to log in: ${escapeInvisibleLine(url)}`);
  const open = async (): Promise<void> => {
    if (await prompter.confirm('Open the page in your browser?', undefined, signal)) openInBrowser(url);
  };
  // If the question fails, the address was shown.
  open().catch(() => undefined);
}

/** Throws the error for a server that needs a login while the program starts. */
export function throwMcpLoginNeeded(server: string): never {
  throw new FairleadError('mcp/login-needed', `The MCP server ${escapeInvisibleLine(server)} requires a login.`, {
    blame: 'user',
    hint: `Log in: fairlead mcp login ${escapeInvisibleLine(server)}`,
  });
}

const refusedError = (reason: string): FairleadError => new FairleadError('mcp/refused', reason, { blame: 'user' });
