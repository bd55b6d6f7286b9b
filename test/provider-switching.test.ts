// One conversation with several providers: only the name of the model changes.
import assert from 'node:assert/strict';
import test from 'node:test';
import { calls, says, type ScriptedResponse } from '../src/testing/index.ts';
import { createProgram } from './support/cli-harness.ts';

const script = ({ results }: { readonly results: readonly string[] }): ScriptedResponse =>
  results.length === 0 ? calls('run_command', { command: 'echo from the tool' }) : says(`It said: ${results[0]}`);

test('[P68] Claude, OpenAI and Ollama are switched by the model name alone, including tools, and one session continues with each', async (t) => {
  const program = await createProgram(t, script);
  const env = {
    ANTHROPIC_API_KEY: 'a-key-for-tests',
    ANTHROPIC_BASE_URL: `${program.server.url}/v1`,
    OPENAI_API_KEY: 'a-key-for-tests',
    OPENAI_BASE_URL: `${program.server.url}/v1`,
    OLLAMA_API_URL: program.server.url,
  };
  const how = ['--one-shot', '--auto-approve', '--no-sandbox'];
  for (const [i, model] of ['anthropic/claude-sonnet-5', 'openai/gpt-5', 'ollama/qwen3'].entries()) {
    const session = i === 0 ? [] : ['--continue'];
    const { code, out, err } = await program.run([...how, ...session, '--model', model, '--prompt', 'Go.'], { env });
    assert.equal(code, 0, `${model}: ${err}`);
    assert.match(out, /It said: from the tool/, model);
  }
  assert.deepEqual([...new Set(program.modelRequests().map(({ format }) => format))], ['anthropic', 'chat', 'ollama']);
  assert.equal(program.sessions().length, 1);
});
