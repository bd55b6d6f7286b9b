// MCP server: offers the tools of a directory and the `run_agent` tool. Results are redacted.
import {
  McpServer,
  type CallToolResult,
  type InputRequiredResult,
  type McpServerFactory,
  type ServerContext,
  type StandardSchemaWithJSON,
  type ToolAnnotations,
} from '@modelcontextprotocol/server';
import { canonicalJson, toJson, type Json, type JsonObject, type Tool } from '../../core/index.ts';
import { isReadingMode, redactJson, sessionGrants, type PermissionMode } from '../../guards/index.ts';
import { createCodingAgent, type ConversationFlags, type ModelHost } from '../../coding-agent/index.ts';
import { noUser } from '../../coding-agent/integrations/index.ts';
import { createStrictRedactor, type Settings } from '../../coding-agent/settings/index.ts';
import { startAgentRun, runAgentOutputSchema, runAgentInputSchema, type RunAgentInput } from './run-agent-tool.ts';
import { runAgentLabels, toolLabels } from './flow-labels.ts';
import { startToolCall } from './governed-call.ts';
import { createQuarantinedResults, readQuarantinedName } from './quarantined-results.ts';
import { createPendingCalls, type McpJob } from './pending-calls.ts';

/** An MCP server for any number of connections. */
export type McpServerHandle = { readonly factory: McpServerFactory; close(): Promise<void> };

/** What the process that runs the server provides. */
export type McpServerHost = {
  /** Writes a line to the log of the process. */
  readonly notify: (text: string) => void;
  readonly host: ModelHost;
  readonly version: string;
};

/** Prepares the tools of this folder for MCP clients; with `flags.autoApprove` they make changes without an approval. */
export async function createMcpServer(
  flags: ConversationFlags,
  settings: Settings,
  { notify, host, version }: McpServerHost,
): Promise<McpServerHandle> {
  const grants = sessionGrants();
  const cwd = process.cwd();
  const configured = flags.permissionMode ?? settings.approve;
  // A mode without changes counts here too, also with --allow-write. Other modes are for a user at a terminal.
  const mode: PermissionMode = isReadingMode(configured) ? configured : flags.autoApprove ? 'auto' : 'ask';
  const runFlags = isReadingMode(mode) ? { ...flags, autoApprove: false, permissionMode: mode } : flags;
  const agent = await createCodingAgent({
    settings,
    cwd,
    autoApprove: () => mode === 'auto',
    mode: () => mode,
    grants,
    codeOnly: false,
    sandbox: flags.sandbox ? 'auto' : 'none',
    prompter: noUser((text) => notify(`${text}\n`)),
  });
  for (const problem of agent.problems) notify(`${problem}\n`);
  if (agent.sandbox.name === 'none') notify(`WARNING: no sandbox. ${agent.sandbox.description}\n`);
  // There is no model of a session here, so only a model of the settings can read in quarantine.
  const canRead = settings.all.has('quarantine.model');
  const results = createQuarantinedResults(canRead);
  const pendingCalls = createPendingCalls();
  const activeCalls = new Set<Promise<unknown>>();
  // Output for the user stays local; output for a client is redacted because it is sent on.
  const secrets = createStrictRedactor(settings);

  const factory: McpServerFactory = () => {
    const server = new McpServer(
      { name: 'fairlead', title: 'Fairlead', version },
      { capabilities: { tools: {} }, inputRequired: { maxRounds: 1000 } },
    );
    const handleCall = async (
      name: string,
      input: Json,
      context: ServerContext,
      start: () => Promise<McpJob>,
    ): Promise<CallToolResult | InputRequiredResult> => {
      const capabilities = server.server.getClientCapabilities();
      const work = pendingCalls.handle({
        context,
        capabilities,
        callKey: `${name} ${canonicalJson(input)}`,
        start,
      });
      activeCalls.add(work);
      try {
        return redactJson(toJson(await work), secrets) as CallToolResult | InputRequiredResult;
      } finally {
        activeCalls.delete(work);
      }
    };
    for (const tool of agent.tools.filter(
      ({ name }) => !modelDrivenTools.has(name) && (canRead || name !== readQuarantinedName),
    ))
      server.registerTool(
        tool.name,
        {
          description: tool.description,
          inputSchema: toStandardSchema<Json>(tool.input),
          annotations: toAnnotations(tool),
          _meta: toolLabels(tool),
        },
        (input, context) =>
          handleCall(tool.name, input, context, () => startToolCall(agent, grants, results, tool, input)),
      );
    server.registerTool(
      'run_agent',
      {
        description: `Runs Fairlead, an agent with tools of its own, in ${cwd}: it reads, changes and runs what is needed, and answers. Its session is kept and can be continued.`,
        inputSchema: toStandardSchema<RunAgentInput>(runAgentInputSchema),
        outputSchema: toStandardSchema(runAgentOutputSchema),
        annotations: { readOnlyHint: false, openWorldHint: true },
        _meta: runAgentLabels,
      },
      (input, context) =>
        handleCall('run_agent', input, context, () => startAgentRun(input, runFlags, settings, { host })),
    );
    return server;
  };
  return {
    factory,
    async close() {
      await pendingCalls.close();
      await agent.close();
      // The clients have disconnected, so the active calls are cancelled and record that.
      await Promise.allSettled(activeCalls);
    },
  };
}

/** Tools that use the model of a session are not offered: clients use `run_agent` instead. */
const modelDrivenTools: ReadonlySet<string> = new Set(['spawn_agent', 'manage_agents']);

const toAnnotations = ({ effect, hints }: Tool): ToolAnnotations => ({
  readOnlyHint: effect === 'read',
  ...(hints?.destructive === undefined ? {} : { destructiveHint: hints.destructive }),
  openWorldHint: effect === 'external',
});

/** Wraps a JSON schema for the SDK, which only lists it; input is validated where the call runs. */
const toStandardSchema = <T>(shape: JsonObject): StandardSchemaWithJSON<T, T> => ({
  '~standard': {
    version: 1,
    vendor: 'fairlead',
    validate: (value) => ({ value: value as T }),
    jsonSchema: { input: () => shape, output: () => shape },
  },
});
