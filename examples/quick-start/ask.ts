// Asks a model. Set FAIRLEAD_MODEL=ollama/qwen3:8b to use a real one; without it a scripted model answers.
import assert from 'node:assert/strict';
import { Agent } from 'fairlead';
import { says, scriptedProvider } from 'fairlead/testing';

const model = process.env['FAIRLEAD_MODEL'] ?? scriptedProvider([says('A ring that guides a rope.', { usd: 0.001 })]);

const agent = new Agent({ model, instructions: 'Answer in one sentence.' });
const result = await agent.run('What is a fairlead?');

console.log(result.text);
console.log(`${result.turns} turn, ${result.usage.outputTokens} output tokens, $${result.costUsd ?? 'unknown'}`);
assert.equal(result.status, 'success');
