// Law 1: within an epoch every request begins with the previous one, byte for byte, system prompt and tool list included.
import assert from 'node:assert/strict';
import test from 'node:test';
import * as fc from 'fast-check';
import { toArray, type ModelRequest } from '../src/core/index.ts';
import { memoryLog } from '../src/stores/index.ts';
import { runScenario, arbitraryModelTurn, createScenario } from './support/scenario.ts';

const getRequestFrame = (request: ModelRequest): string => JSON.stringify([request.system, request.tools]);
const getMessageLines = (request: ModelRequest): readonly string[] =>
  toArray(request.messages).map((message) => JSON.stringify(message));

test('[D4, D15, D16] whatever a model sends and rules add, each request extends the previous one', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(arbitraryModelTurn, { maxLength: 10 }), async (script) => {
      const { agent, requests } = createScenario(script);
      await runScenario(agent, memoryLog());
      for (const [i, request] of requests.entries()) {
        const before = requests[i - 1];
        if (!before) continue;
        assert.equal(getRequestFrame(request), getRequestFrame(before));
        assert.deepEqual(
          getMessageLines(request).slice(0, before.messages.length),
          getMessageLines(before),
          `request ${i + 1}`,
        );
      }
    }),
    { numRuns: 200 },
  );
});
