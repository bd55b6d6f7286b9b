// vitest-evals against an agent of the library: the answer, the tool calls and a judge of each case. A scripted model answers, so that this runs anywhere.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { codingAgent } from 'fairlead/coding-agent';
import { toTrajectory } from 'fairlead/evals';
import { memoryLog } from 'fairlead/stores';
import { calls, says, scriptedProvider } from 'fairlead/testing';
import { createHarness, createJudge, describeEval, toolCalls } from 'vitest-evals';
import { expect } from 'vitest';

/** Your model in place of this one: `model: 'anthropic/…'` of codingAgent. */
const createModel = () =>
  scriptedProvider(({ prompt, results }) => {
    if (!prompt.includes('port')) return says('12 + 30 is 42.');
    return results.length === 0 ? calls('read_file', { path: 'app.ini' }) : says('7431');
  });

/** The transcript as vitest-evals expects it, from the log of the session. */
const toTranscript = (prompt, steps, text) => [
  { type: 'message', role: 'user', content: prompt },
  ...steps.flatMap(({ tool, input, result }, i) => [
    { type: 'tool_call', id: `call-${i}`, name: tool, arguments: input },
    { type: 'tool_result', toolCallId: `call-${i}`, name: tool, content: result },
  ]),
  { type: 'message', role: 'assistant', content: text },
];

const harness = createHarness({
  name: 'fairlead',
  async run({ input }) {
    const cwd = mkdtempSync(path.join(tmpdir(), 'fairlead-eval-'));
    writeFileSync(path.join(cwd, 'app.ini'), 'port=7431\n');
    const dirs = { stateDir: path.join(cwd, '.state'), configDir: path.join(cwd, '.config') };
    const agent = await codingAgent({ ...dirs, cwd, model: createModel() });
    try {
      const log = memoryLog();
      const session = await agent.session({ store: { open: async () => log } });
      const { text, usage } = await session.run(input);
      return {
        output: text,
        events: toTranscript(input, toTrajectory(log.events), text),
        usage: { inputTokens: usage.input, outputTokens: usage.output },
      };
    } finally {
      await agent.close();
      rmSync(cwd, { recursive: true, force: true });
    }
  },
});

const BriefJudge = createJudge('BriefJudge', async ({ output }) => ({ score: output.length <= 40 ? 1 : 0 }));

describeEval('fairlead', { harness, judges: [BriefJudge], judgeThreshold: 1 }, (it) => {
  it('reads the port from a file', async ({ run }) => {
    const result = await run('Which port does app.ini name?');
    expect(result.output).toBe('7431');
    expect(toolCalls(result).map(({ name }) => name)).toEqual(['read_file']);
  });

  it('calculates without a tool', async ({ run }) => {
    const result = await run('What is 12 + 30?');
    expect(result.output).toContain('42');
    expect(toolCalls(result)).toEqual([]);
  });
});
