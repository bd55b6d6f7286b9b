// Compares what an answer says was done with what the agent did: a false claim is sent back once, then shown as not confirmed.
import assert from 'node:assert/strict';
import { Agent, tool } from 'fairlead';
import { actionClaims, extractActionClaims } from 'fairlead/checks';
import { says, scriptedProvider } from 'fairlead/testing';

const look = tool({ name: 'look', description: 'Looks.', inputSchema: { type: 'object' }, execute: () => 'Nothing.' });
const model = scriptedProvider([says('I fixed src/a.ts, and all tests pass.'), says('I fixed src/a.ts.')]);
const agent = new Agent({ model, tools: [look], checks: [actionClaims()] });
const { text, unconfirmedClaims } = await agent.run('Fix the bug.');
for (const claim of unconfirmedClaims) console.log(`"${claim.text}" ${claim.why}`);

assert.equal(text, 'I fixed src/a.ts.');
assert.deepEqual(
  unconfirmedClaims.map(({ why }) => why),
  ['The log has no change of src/a.ts.'],
);
assert.equal(extractActionClaims('If all tests pass, I will commit.').length, 0);
