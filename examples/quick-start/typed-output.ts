// Gets an answer as a typed object. Any Standard Schema library works; here it is zod. A JSON Schema works too.
import assert from 'node:assert/strict';
import { Agent } from 'fairlead';
import { says, scriptedProvider } from 'fairlead/testing';
import * as z from 'zod';

const Invoice = z.object({ customer: z.string(), total: z.number(), paid: z.boolean().default(false) });

// The first answer does not match the schema, so the model is asked again.
const model = scriptedProvider([says('Ada owes 12.5.'), says('{"customer": "Ada", "total": 12.5}')]);
const agent = new Agent({ model, outputSchema: Invoice });

const { object, turns } = await agent.run('Read the invoice: Ada owes 12.50.');
console.log(`${object?.customer} owes ${object?.total.toFixed(2)}`);
assert.deepEqual(object, { customer: 'Ada', total: 12.5, paid: false });
assert.equal(turns, 2);
