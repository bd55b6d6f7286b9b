// Attacks by texts and answers with so many parts that they do not fit into the arguments of one call.
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { formatColumns } from '../src/core/index.ts';
import { listModels } from '../src/providers/models/list-models.ts';
import { renderAs } from '../src/rules/rendering/formats.ts';
import { lintSchema } from '../src/agent/lint-schema.ts';
import { parseConversation } from '../src/sessions/conversation-format/parse-conversation.ts';
import { fenceMarkdown } from '../src/server/acp/tool-calls.ts';
import { assertAttack } from './support/attack-report.ts';

const count = 140_000;

test('[attack 159] output with very many code marks is fenced for an editor and for a model', (t) => {
  const output = `${'`a'.repeat(count)}\n${'```b'.repeat(count)}\n\`\`\`\`\``;
  const fenced = fenceMarkdown(output, 'text');
  assert.ok(fenced.startsWith('``````text\n') && fenced.endsWith('\n``````'));
  assert.ok(renderAs({ kind: 'code', attributes: { language: 'text' }, children: [output] }, 'markdown').length > 0);
  assertAttack(t, 159, ['contained']);
});

test('[attack 159] a list of very many models, rows or schemas is read', async (t) => {
  const body = JSON.stringify({ models: Array.from({ length: count }, (_, at) => ({ name: `models/m${at}` })) });
  const server = createServer((_, response) => response.end(body));
  t.after(() => server.close());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const listed = await listModels({ provider: 'google', baseUrl, apiKey: 'k' });
  assert.equal(listed.length, count);
  assert.equal(formatColumns(Array.from({ length: count }, () => ['a', 'b'])).split('\n').length, count + 1);
  const properties = Object.fromEntries(Array.from({ length: count }, (_, at) => [`p${at}`, { type: 'string' }]));
  assert.equal(typeof (lintSchema({ type: 'object', properties }, () => undefined) ?? ''), 'string');
  assertAttack(t, 159, ['contained']);
});

test('[attack 159] a conversation with very many mistakes is answered with all of them', (t) => {
  const parsed = parseConversation('%%% tool\n%% result c1 read\nx\n'.repeat(count));
  assert.ok('mistakes' in parsed && parsed.mistakes.length > 0);
  assertAttack(t, 159, ['contained']);
});
