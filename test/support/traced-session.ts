// Test fixture: a session of the terminal with a sub-agent, a tool of an MCP server, a denied call, a failed call and a failed check.
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { createToolRegistry, Session } from '../../src/agent/index.ts';
import type { Gate, ResolvedAgent, Tool, ToolContext } from '../../src/core/index.ts';
import { toSessionFileName } from '../../src/sessions/index.ts';
import { openJsonl } from '../../src/stores/index.ts';
import { calls, says, scriptedProvider, type ScriptedResponse } from '../../src/testing/index.ts';

const model = 'claude-sonnet-4-5';
const price = { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75 };

function createAgent(
  answers: readonly ScriptedResponse[],
  tools: readonly Tool[],
  more: Partial<ResolvedAgent> = {},
): ResolvedAgent {
  const provider = scriptedProvider(
    answers.map((answer) => ({ ...answer, model })),
    { price },
  );
  return {
    system: 'You keep the harbour log.',
    provider: { ...provider, model, stream: (request, signal) => provider.stream(request, signal) },
    modelProvider: 'anthropic',
    tools: createToolRegistry(tools),
    rules: [],
    reminders: [],
    gates: [],
    stops: [],
    checks: [],
    settings: {},
    ...more,
  };
}

/** Writes the session into a folder of sessions, and returns its id. `unitMs` is the time that a step takes. */
export async function writeTracedSession(folder: string, name: string, unitMs = 0): Promise<string> {
  const agents = path.join(folder, 'agents');
  mkdirSync(agents, { recursive: true });
  const wait = (units: number): Promise<void> => pause(units * unitMs);
  const tool = (toolName: string, execute: Tool['execute']): Tool => ({
    name: toolName,
    description: toolName,
    effect: 'read',
    input: { type: 'object' },
    execute,
  });
  const takes = (units: number, text: string) => async (): Promise<string> => {
    await wait(units);
    return text;
  };
  const answer = (response: ScriptedResponse, units: number, input: number, output: number): ScriptedResponse => ({
    ...response,
    delayMs: units * unitMs,
    usage: { input, output },
  });
  const log = await openJsonl(path.join(folder, toSessionFileName(name)));

  async function runSubagent(_: unknown, { key }: ToolContext): Promise<string> {
    const childLog = await openJsonl(path.join(agents, toSessionFileName(`${name}-tides`)));
    const child = createAgent(
      [
        answer(calls('read_file', { path: 'tides/october.csv' }), 3, 900, 40),
        answer(says('High water is at 06:12.'), 4, 1400, 60),
      ],
      [tool('read_file', takes(1, '06:12 high'))],
    );
    const session = await Session.open(child, childLog, childLog.session);
    await session.annotate('agent', { task: 'Read the tide table', parent: log.session, key });
    await session.advance('Read the tide table');
    await session.close();
    return 'High water is at 06:12.';
  }

  let checked = 0;
  const gate: Gate = ({ tool: called }) =>
    called === 'delete_file'
      ? { type: 'deny', reason: 'Files of the log are never deleted.', by: { kind: 'policy', name: 'keep-log' } }
      : { type: 'allow' };
  const agent = createAgent(
    [
      answer(
        calls('mcp__harbour__list_boats', { berth: 7 }).and(calls('delete_file', { path: 'log/old.md' })),
        4,
        1200,
        80,
      ),
      answer(calls('spawn_agent', { task: 'Read the tide table' }), 3, 1600, 50),
      answer(calls('run_command', { command: 'harbour depth --berth 7' }), 3, 1900, 45),
      answer(says('Two boats are at berth 7, which is 4 m deep. High water is at 06:12.'), 5, 2200, 120),
      answer(says('Two boats are at berth 7. High water is at 06:12.'), 3, 2400, 70),
    ],
    [
      tool('mcp__harbour__list_boats', takes(2, 'Anna, Berta')),
      tool('delete_file', takes(0, '')),
      tool('spawn_agent', runSubagent),
      tool('run_command', async () => {
        await wait(1);
        throw new Error('harbour: command not found');
      }),
    ],
    {
      gates: [gate],
      checks: [
        {
          name: 'sources',
          async run() {
            await wait(2);
            checked += 1;
            return checked === 1 ? { type: 'failed', why: 'The depth has no source.' } : { type: 'passed' };
          },
        },
      ],
    },
  );
  const session = await Session.open(agent, log, log.session);
  await session.advance('Which boats are at berth 7, and when is high water?');
  await session.close();
  return log.session;
}

/** Writes a session whose two turns have many tool calls each, and returns its id. */
export async function writeLongSession(folder: string, name: string, callsPerTurn: number): Promise<string> {
  mkdirSync(folder, { recursive: true });
  const many = Array.from({ length: callsPerTurn }, (_, i) => calls('read_file', { path: `log/${i}.md` }));
  const all = many.slice(1).reduce((before, each) => before.and(each), many[0] ?? calls('read_file', {}));
  const read: Tool = {
    name: 'read_file',
    description: 'Reads.',
    effect: 'read',
    input: { type: 'object' },
    execute: () => 'text',
  };
  const log = await openJsonl(path.join(folder, toSessionFileName(name)));
  const session = await Session.open(createAgent([all, all, says('Read.')], [read]), log, log.session);
  await session.advance('Read every file of the log');
  await session.close();
  return log.session;
}
