// Starts the proxy from a program: it applies rules to every client that uses its URL, in any language.
import assert from 'node:assert/strict';
import { openProxy } from 'fairlead/bridges';
import { confirm, compileRuleSet } from 'fairlead/rules';
import { calls, says, scriptedServer } from 'fairlead/testing';

await using server = await scriptedServer([calls('delete_file', { path: 'a.txt' }), says('I leave it, then.')]);

const rules = compileRuleSet({ name: 'project-rules', gates: [confirm({ which: ['delete_file'] })] });
await using proxy = await openProxy({ target: server.url, port: 0, extensions: [rules] });

const response = await fetch(`${proxy.url}/v1/chat/completions`, {
  method: 'POST',
  headers: { 'content-type': 'application/json', authorization: 'Bearer any' },
  body: JSON.stringify({
    model: 'any-model',
    messages: [{ role: 'user', content: 'Clean up.' }],
    tools: [{ type: 'function', function: { name: 'delete_file', parameters: { type: 'object' } } }],
  }),
});
const answer = await response.text();

assert.match(answer, /I leave it, then\./);
assert.equal(server.requests.length, 2);
console.log(answer);
