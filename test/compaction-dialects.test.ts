// A summary and the compacted conversation as servers see them: valid in every wire format (the server refuses invalid requests), and shorter.
import assert from 'node:assert/strict';
import test from 'node:test';
import type { Tool } from '../src/core/index.ts';
import { summarizingCompactor } from '../src/rules/index.ts';
import { calls, says, type ScriptRequest } from '../src/testing/index.ts';
import { createTestTool } from './support/core-fixture.ts';
import { testWireFormats, createGatewayFixture } from './support/gateway-fixture.ts';

const look: Tool = createTestTool('look', 'read', (input) => `${JSON.stringify(input)} ${'lorem ipsum '.repeat(150)}`);

for (const dialect of testWireFormats) {
  test(`[A12, P70] in the wire format ${dialect} a summary is requested without tools, and the compacted conversation is valid`, async (t) => {
    const summaries: number[] = [];
    const script = ({ tools, index, body }: ScriptRequest<unknown>) => {
      const usage = { input: Math.ceil(JSON.stringify(body).length / 4), output: 10 };
      if (tools.length > 0) return { ...(index < 20 ? calls('look', { n: index }) : says('All seen.')), usage };
      summaries.push(index);
      return says('Found: nothing yet.', { usage });
    };
    const tools = new Map([['look', look]]);
    const on = await createGatewayFixture(t, script, {
      format: dialect,
      agent: { tools, compactor: summarizingCompactor() },
      limits: { context: 4000 },
    });
    const { ended, epoch, spent } = await on.run('Look at all of it.');
    assert.equal(ended?.reason, 'answered');
    assert.equal(summaries.length, epoch - 1);
    assert.ok(summaries.length >= 2, `${summaries.length} summaries`);
    const asked = on.server.requests.filter((request) => request.format !== undefined);
    assert.equal(spent.turns, asked.length - summaries.length);
    for (const request of asked) {
      assert.ok(request.raw.length / 4 < 4500, `${request.raw.length / 4} tokens`);
    }
    const after = asked[(summaries[0] as number) + 1];
    assert.ok(after?.raw.includes('Found: nothing yet.') && after.raw.includes('Look at all of it.'));
    await on.assertInvariants();
  });
}
