// What a client is offered: the tools of this folder, and a whole run as one more. What is told to it holds no key of ours.
import {
  McpServer,
  type CallToolResult,
  type InputRequiredResult,
  type McpServerFactory,
  type ServerContext,
  type StandardSchemaWithJSON,
} from '@modelcontextprotocol/server';
import { canonicalJson, toJson, type Json, type JsonObject, type Tool } from '../../core/index.ts';
import { redactJson, sessionGrants } from '../../guards/index.ts';
import { createCodingAgent } from '../../coding-agent/create-agent.ts';
import { noUser } from '../../coding-agent/integrations/index.ts';
import type { ConversationFlags, ModelHost } from '../../coding-agent/index.ts';
import { createStrictRedactor, type Settings } from '../../coding-agent/settings/index.ts';
import { startAgentRun, runAgentOutputSchema, runAgentInputSchema, type RunAgentInput } from './run-agent-tool.ts';
import { startToolCall } from './governed-call.ts';
import { createPendingCalls, type McpJob } from './pending-calls.ts';

/** A server for any number of connections. */
export type McpServerHandle = { readonly factory: McpServerFactory; close(): Promise<void> };

/** What the process that runs the server provides. */
export type McpServerHost = {
  /** Writes a line to the log of the process. */
  readonly notify: (text: string) => void;
  readonly host: ModelHost;
  readonly version: string;
};

/** Prepares the tools of this folder for MCP clients; with `asked.autoApprove` they make changes without an approval. */
export async function createMcpServer(
  asked: ConversationFlags,
  settings: Settings,
  { notify: tell, host, version }: McpServerHost,
): Promise<McpServerHandle> {
  const grants = sessionGrants();
  const cwd = process.cwd();
  const outfit = await createCodingAgent({
    settings,
    cwd,
    autoApprove: () => asked.autoApprove,
    grants,
    codeOnly: false,
    sandbox: asked.sandbox ? 'auto' : 'none',
    prompter: noUser((text) => tell(`${text}\n`)),
  });
  for (const problem of outfit.problems) tell(`${problem}\n`);
  if (outfit.sandbox.name === 'none') tell(`WARNING: no sandbox. ${outfit.sandbox.description}\n`);
  const rounds = createPendingCalls();
  const going = new Set<Promise<unknown>>();
  // What the person sees is their affair; what a client is told goes further.
  const secrets = createStrictRedactor(settings);

  const factory: McpServerFactory = () => {
    const server = new McpServer(
      { name: 'fairlead', title: 'Fairlead', version },
      { capabilities: { tools: {} }, inputRequired: { maxRounds: 1000 } },
    );
    const answer = async (
      name: string,
      input: Json,
      context: ServerContext,
      begin: () => Promise<McpJob>,
    ): Promise<CallToolResult | InputRequiredResult> => {
      const can = server.server.getClientCapabilities();
      const work = rounds.handle({
        context,
        capabilities: can,
        callKey: `${name} ${canonicalJson(input)}`,
        start: begin,
      });
      going.add(work);
      try {
        return redactJson(toJson(await work), secrets) as CallToolResult | InputRequiredResult;
      } finally {
        going.delete(work);
      }
    };
    for (const tool of outfit.tools.filter(({ name }) => !modelDrivenTools.has(name)))
      server.registerTool(
        tool.name,
        {
          description: tool.description,
          inputSchema: toStandardSchema<Json>(tool.input),
          annotations: toAnnotations(tool),
        },
        (input, context) => answer(tool.name, input, context, () => startToolCall(outfit, grants, tool.name, input)),
      );
    server.registerTool(
      'run_agent',
      {
        description: `Runs Fairlead, an agent with tools of its own, in ${cwd}: it reads, changes and runs what is needed, and answers. Its session is kept and can be gone on with.`,
        inputSchema: toStandardSchema<RunAgentInput>(runAgentInputSchema),
        outputSchema: toStandardSchema(runAgentOutputSchema),
        annotations: { readOnlyHint: false, openWorldHint: true },
      },
      (wish, context) =>
        answer('run_agent', wish, context, () => startAgentRun(wish, asked, settings, { notify: tell, host })),
    );
    return server;
  };
  return {
    factory,
    async close() {
      await rounds.close();
      await outfit.close();
      // Their clients are gone, so they were told to stop; they write down that they did.
      await Promise.allSettled(going);
    },
  };
}

/** Tools that have a model of their own at work, which a client has by `run_agent`: here a client is in the place of the model. */
const modelDrivenTools: ReadonlySet<string> = new Set(['spawn_agent', 'manage_agents']);

const toAnnotations = ({ effect }: Tool): { readOnlyHint: boolean; openWorldHint: boolean } => ({
  readOnlyHint: effect === 'read',
  openWorldHint: effect === 'external',
});

/** A JSON schema as the SDK wants it. It only shows it: whether an input fits is found out where the call is made. */
const toStandardSchema = <T>(shape: JsonObject): StandardSchemaWithJSON<T, T> => ({
  '~standard': {
    version: 1,
    vendor: 'fairlead',
    validate: (value) => ({ value: value as T }),
    jsonSchema: { input: () => shape, output: () => shape },
  },
});
