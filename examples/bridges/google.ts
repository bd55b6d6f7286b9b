// Applies rules to Google's client: a stop condition ends the run, and the client receives the reason.
import assert from 'node:assert/strict';
import { GoogleGenAI } from '@google/genai';
import { wrapGoogle } from 'fairlead/bridges';
import { compileRuleSet, turnLimit } from 'fairlead/rules';
import { calls, scriptedServer } from 'fairlead/testing';

await using server = await scriptedServer([calls('look', { at: 'the map' })]);

const rules = compileRuleSet({ name: 'short', stops: [turnLimit(1)] });
const client = wrapGoogle(new GoogleGenAI({ apiKey: 'any', httpOptions: { baseUrl: server.url } }), rules);

const contents: object[] = [{ role: 'user', parts: [{ text: 'Where are we?' }] }];
const config = { tools: [{ functionDeclarations: [{ name: 'look' }] }] };
const first = await client.models.generateContent({ model: 'any-model', contents, config });
contents.push(first.candidates?.[0]?.content ?? {}, {
  role: 'user',
  parts: [{ functionResponse: { name: 'look', response: { output: 'a blank' } } }],
});
const second = await client.models.generateContent({ model: 'any-model', contents, config });

assert.match(second.text ?? '', /stopped \(max-turns\)/);
assert.equal(server.requests.length, 1);
console.log(second.text);
