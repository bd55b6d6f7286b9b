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
import { outfitFor } from '../conversation/outfit.ts';
import { nobody } from '../equipment/index.ts';
import type { CliArgs } from '../front/asked.ts';
import { strictKeeper, type Settings } from '../settings/index.ts';
import { version } from '../version.ts';
import { agentJob, cameSchema, wishSchema, type Wish } from './agent-job.ts';
import { callJob } from './call-job.ts';
import { openRounds, type Job } from './rounds.ts';

/** A server for any number of connections. */
export type Offer = { readonly factory: McpServerFactory; close(): Promise<void> };

/** Gets the tools of this folder ready to be offered; `asked.auto` lets them change things unasked. */
export async function openOffer(asked: CliArgs, settings: Settings, tell: (text: string) => void): Promise<Offer> {
  const grants = sessionGrants();
  const cwd = process.cwd();
  const outfit = await outfitFor({
    settings,
    cwd,
    auto: () => asked.autoApprove,
    grants,
    code: false,
    sandbox: asked.sandbox,
    person: nobody((text) => tell(`${text}\n`)),
  });
  for (const problem of outfit.problems) tell(`${problem}\n`);
  if (outfit.sandbox.name === 'none') tell(`WARNING: no sandbox. ${outfit.sandbox.description}\n`);
  const rounds = openRounds();
  const going = new Set<Promise<unknown>>();
  // What the person sees is their affair; what a client is told goes further.
  const secrets = strictKeeper(settings);

  const factory: McpServerFactory = () => {
    const server = new McpServer(
      { name: 'fairlead', title: 'Fairlead', version },
      { capabilities: { tools: {} }, inputRequired: { maxRounds: 1000 } },
    );
    const answer = async (
      name: string,
      input: Json,
      context: ServerContext,
      begin: () => Promise<Job>,
    ): Promise<CallToolResult | InputRequiredResult> => {
      const can = server.server.getClientCapabilities();
      const work = rounds.carry({ context, can, mark: `${name} ${canonicalJson(input)}`, begin });
      going.add(work);
      try {
        return redactJson(toJson(await work), secrets) as CallToolResult | InputRequiredResult;
      } finally {
        going.delete(work);
      }
    };
    for (const tool of outfit.tools.filter(({ name }) => !modelled.has(name)))
      server.registerTool(
        tool.name,
        { description: tool.description, inputSchema: schema<Json>(tool.input), annotations: hintsOf(tool) },
        (input, context) => answer(tool.name, input, context, () => callJob(outfit, grants, tool.name, input)),
      );
    server.registerTool(
      'run_agent',
      {
        description: `Runs Fairlead, an agent with tools of its own, in ${cwd}: it reads, changes and runs what is needed, and answers. Its session is kept and can be gone on with.`,
        inputSchema: schema<Wish>(wishSchema),
        outputSchema: schema(cameSchema),
        annotations: { readOnlyHint: false, openWorldHint: true },
      },
      (wish, context) => answer('run_agent', wish, context, () => agentJob(wish, asked, settings, tell)),
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
const modelled: ReadonlySet<string> = new Set(['spawn_agent', 'manage_agents']);

const hintsOf = ({ effect }: Tool): { readOnlyHint: boolean; openWorldHint: boolean } => ({
  readOnlyHint: effect === 'read',
  openWorldHint: effect === 'outside',
});

/** A JSON schema as the SDK wants it. It only shows it: whether an input fits is found out where the call is made. */
const schema = <T>(shape: JsonObject): StandardSchemaWithJSON<T, T> => ({
  '~standard': {
    version: 1,
    vendor: 'fairlead',
    validate: (value) => ({ value: value as T }),
    jsonSchema: { input: () => shape, output: () => shape },
  },
});
