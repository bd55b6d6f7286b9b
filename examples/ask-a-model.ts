// Ask a model something. Name one with FAIRLEAD_MODEL=ollama/qwen3:8b; without it a scripted model answers, so that this runs anywhere.
import assert from 'node:assert/strict';
import { Agent } from 'fairlead';
import { says, scriptedProvider } from 'fairlead/testing';

const model =
  process.env['FAIRLEAD_MODEL'] ?? scriptedProvider([says('A fairlead guides a line without taking its place.')]);

const agent = new Agent({ model, instructions: 'Answer in one sentence.' });
const result = await agent.run('What is a fairlead?');

console.log(result.text);
console.log(`${result.turns} turn, ${result.usage.outputTokens} tokens out, cost ${result.costUsd ?? 'unknown'}`);
assert.equal(result.status, 'success');
