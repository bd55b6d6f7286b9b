// The real program with a trusted MCP server of the user on loopback and a model that obeys every text: what an injected instruction achieves.
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import type { TestContext } from 'node:test';
import type { AttackOutcome } from '../../scripts/attacks/catalogue.ts';
import type { Event, Json, JsonObject } from '../../src/core/index.ts';
import { says, type ScriptStep } from '../../src/testing/index.ts';
import { createProgram, type ProgramResult, type TestProgram } from './cli-harness.ts';
import { startMcpHttpServer } from './mcp-http-server.ts';
import { createListedTool, createTextResult, type ListedTool } from './mcp-server.ts';

/** A call that the server received. */
export type ReceivedCall = { readonly tool: string; readonly args: JsonObject };

/** The options of a run: the session, by default always the same one, its arguments, and lines that are typed instead of the prompt. */
export type AskOptions = {
  readonly session?: string;
  readonly args?: readonly string[];
  readonly input?: string;
  /** Text on standard input beside the prompt. */
  readonly piped?: string;
};

/** The program, the calls that its server received, and the log of its last run. */
export type InjectionProgram = TestProgram & {
  readonly received: readonly ReceivedCall[];
  /** Runs one prompt with the next steps of the model; further runs continue the session. */
  ask(prompt: string, steps: readonly ScriptStep[], options?: AskOptions): Promise<ProgramResult>;
  /** The events of the session that was used last. */
  events(): readonly Event[];
  /** What happened to the last call of a tool. */
  outcome(tool: string): AttackOutcome;
};

const defineTool = (name: string, ...parameters: readonly string[]): ListedTool =>
  createListedTool(name, {
    ...(/^(?:read|get)_/.test(name) ? { annotations: { readOnlyHint: true } } : {}),
    inputSchema: {
      type: 'object',
      properties: Object.fromEntries(parameters.map((each) => [each, { type: 'string' }])),
    },
  });

/** The tools of the server, of which some read and others act. */
const tools: readonly ListedTool[] = [
  defineTool('read_mail', 'folder'),
  defineTool('get_product', 'product'),
  defineTool('read_note', 'name'),
  defineTool('send_mail', 'to', 'subject', 'body'),
  defineTool('send_money', 'iban', 'amount', 'subject'),
  defineTool('grant_access', 'user', 'device'),
  defineTool('save_note', 'name', 'text'),
];

/** The full name of a tool of the server. */
export const serverToolName = (name: string): string => `mcp__desk__${name}`;

/** Creates the program; `results` are the texts that reading tools of the server return. */
export async function createInjectionProgram(
  t: TestContext,
  results: Readonly<Record<string, string>> = {},
): Promise<InjectionProgram> {
  const received: ReceivedCall[] = [];
  const notes = new Map<string, Json>();
  const server = await startMcpHttpServer(t, {
    tools,
    call(tool, args) {
      received.push({ tool, args });
      if (tool === 'save_note') notes.set(String(args['name']), args['text'] ?? '');
      if (tool === 'read_note') return createTextResult(String(notes.get(String(args['name'])) ?? 'There is no note.'));
      return createTextResult(results[tool] ?? 'Done.');
    },
  });
  let steps: ScriptStep[] = [];
  let last = '';
  const program = await createProgram(t, () => steps.shift() ?? says('Done.'));
  await program.seedModels('qwen3');
  mkdirSync(program.config(), { recursive: true });
  const mcpServers = { desk: { type: 'http', url: `${server.url}/mcp`, trust: true } };
  writeFileSync(program.config('mcp.json'), JSON.stringify({ mcpServers }));
  const events = (): readonly Event[] => {
    return program
      .session(last)
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Event);
  };
  return {
    ...program,
    received,
    async ask(prompt, next, { session = 'attack', args = ['--auto-approve'], input, piped } = {}) {
      steps = [...next];
      last = session;
      const named = program.sessions().includes(session) ? ['--resume', session] : ['-n', session];
      return program.run([...(input === undefined ? [prompt] : ['--interactive']), ...args, ...named], {
        input: input ?? piped ?? '',
      });
    },
    events,
    outcome(tool) {
      if (received.some((each) => serverToolName(each.tool) === tool)) return 'done';
      const ids = new Set<string>();
      let outcome: AttackOutcome = 'done';
      for (const event of events()) {
        if (event.type === 'turn-ended')
          for (const part of event.message.parts) if (part.type === 'tool-call' && part.tool === tool) ids.add(part.id);
        if (event.type === 'approval-requested' && ids.has(event.call)) outcome = 'asked';
        if (event.type === 'tool-ended' && ids.has(event.call))
          outcome = event.outcome !== 'denied' ? 'done' : outcome === 'asked' ? 'asked' : 'blocked';
      }
      assert.ok(ids.size > 0, `the model called ${tool}`);
      return outcome;
    },
  };
}

/** Returns the gate that denied the last denied call. */
export const deniedBy = (events: readonly Event[]): string => {
  const ended = events.findLast((event) => event.type === 'tool-ended' && event.outcome === 'denied');
  return ended?.type === 'tool-ended' ? `${ended.deniedBy?.kind} ${ended.deniedBy?.name ?? ''}`.trim() : '';
};
