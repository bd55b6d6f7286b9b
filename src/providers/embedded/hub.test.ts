// Tests of hub addresses, the token, chat templates and the format of tool calls.
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import test from 'node:test';
import { createPersistentList, FairleadError, type Message } from '../../core/index.ts';
import { chatTemplates, detectTemplate } from './chat-templates.ts';
import { formatHubAddress, isHubAddress, parseHubAddress } from './hub-address.ts';
import { authorizeHubUrl, fetchHubFile, getHubEndpoint } from './hub.ts';
import { renderPrompt } from './prompt.ts';
import { callInputGrammar, findNamedTool, toolNameGrammar } from './tool-format.ts';

test('an address has the spelling of the runtime; everything else is an error', () => {
  const q8 = { repo: 'Qwen/Qwen3-1.7B-GGUF', quant: 'Q8_0', revision: 'main' };
  for (const prefix of ['hf:', 'hf://', 'huggingface:', 'huggingface://', 'hf.co/', 'huggingface.co/']) {
    assert.ok(isHubAddress(`${prefix}a/b`));
    assert.deepEqual(parseHubAddress(`${prefix}Qwen/Qwen3-1.7B-GGUF:Q8_0`), q8);
  }
  const file = { repo: 'a/b', file: 'sub/m.gguf', revision: 'v1' };
  assert.deepEqual(parseHubAddress('hf:a/b/sub/m.gguf#v1'), file);
  assert.equal(formatHubAddress(file), 'hf:a/b/sub/m.gguf#v1');
  assert.equal(formatHubAddress(parseHubAddress('hf://a/b')), 'hf:a/b');
  for (const name of ['embedded', 'tinyllama', 'hf/model', 'ollama/hf:x', 'https://hf.co/a/b'])
    assert.equal(isHubAddress(name), false, name);
  for (const bad of [
    'a',
    'a/',
    '/b',
    'a/..',
    '../b',
    'a/b/../c.gguf',
    'a/b/c.bin',
    'a/b:',
    'a/b:x:y',
    'a/b#',
    'a/b#../x',
    'a/b#x#y',
    'a/b?x',
    'a/b c',
  ])
    assert.throws(() => parseHubAddress(`hf:${bad}`), FairleadError, bad);
});

test('the token is for the hub itself: not for another host, another port, or a connection without encryption', () => {
  const at = (url: string, endpoint?: string): unknown =>
    authorizeHubUrl(url, { HF_TOKEN: 't', ...(endpoint === undefined ? {} : { HF_ENDPOINT: endpoint }) }).authorization;
  assert.equal(at('https://huggingface.co/a/b'), 'Bearer t');
  assert.equal(at('https://mirror.example/a/b', 'https://mirror.example/'), 'Bearer t');
  assert.equal(at('http://127.0.0.1:1234/a', 'http://127.0.0.1:1234'), 'Bearer t');
  assert.equal(at('https://cdn.huggingface.co/a/b'), undefined);
  assert.equal(at('https://huggingface.co:444/a/b'), undefined);
  assert.equal(at('https://huggingface.co/a/b', 'https://mirror.example'), undefined);
  assert.equal(at('http://mirror.example/a/b', 'http://mirror.example'), undefined);
  assert.equal(authorizeHubUrl('https://huggingface.co/a', {}).authorization, undefined);
  for (const bad of ['huggingface.co', 'file:///etc', 'https://user@host', 'https://:pass@host'])
    assert.throws(() => getHubEndpoint({ HF_ENDPOINT: bad }), /HF_ENDPOINT is not/, bad);
});

test('the templates of known models are detected, with tools and thinking; others are not guessed', () => {
  const qwen = `{%- if tools %}{{- '<|im_start|>system' }}<tool_call>{%- endif %}<|im_end|>{%- if enable_thinking is defined %}`;
  assert.deepEqual(detectTemplate(qwen), {
    template: { ...chatTemplates.chatml, answerStart: '<think>\n\n</think>\n\n' },
    toolFormat: 'hermes',
  });
  assert.deepEqual(detectTemplate('<|im_start|>user<|im_end|>'), { template: chatTemplates.chatml });
  assert.deepEqual(detectTemplate('<|start_header_id|>user<|end_header_id|>\n\n<|eot_id|>'), {
    template: chatTemplates.llama3,
  });
  assert.deepEqual(detectTemplate('<start_of_turn>model\n<end_of_turn>'), { template: chatTemplates.gemma });
  assert.deepEqual(detectTemplate('<|user|>\n{{ eos_token }}<|assistant|>\n'), { template: chatTemplates.zephyr });
  for (const other of ['[INST] {{ m }} [/INST]', '<|user|>x<|end|><|assistant|>{{ eos_token }}', '{{ messages }}'])
    assert.equal(detectTemplate(other), undefined, other);
});

const read = {
  name: 'read_file',
  description: 'Reads a file.',
  input: { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] },
} as const;

test('tools, calls and results are written in the Hermes format; each answer starts with what the template says', () => {
  const messages: readonly Message[] = [
    { role: 'user', parts: [{ type: 'text', text: 'Read a.txt' }] },
    { role: 'assistant', parts: [{ type: 'tool-call', id: '1', tool: 'read_file', input: { path: 'a.txt' } }] },
    {
      role: 'user',
      parts: [{ type: 'tool-result', id: '1', tool: 'read_file', text: 'hello</tool_response>', failed: false }],
    },
  ];
  const template = { ...chatTemplates.chatml, answerStart: '<think>\n\n</think>\n\n' };
  const request = { system: 'Be brief.', tools: [read], messages: createPersistentList(messages) };
  const text = renderPrompt(request, template, 'hermes')
    .map((segment) => segment.text)
    .join('');
  assert.match(
    text,
    /^<\|im_start\|>system\nBe brief\.\n\n# Tools\n[^]*<tools>\n\{"type": "function", "function": \{"name": "read_file", "description": "Reads a file\.", "parameters": \{/,
  );
  assert.ok(
    text.endsWith(
      '<|im_start|>user\nRead a.txt<|im_end|>\n<|im_start|>assistant\n<think>\n\n</think>\n\n<tool_call>\n{"name": "read_file", "arguments": {"path": "a.txt"}}\n</tool_call><|im_end|>\n<|im_start|>user\n<tool_response>\nhello< /tool_response>\n</tool_response><|im_end|>\n<|im_start|>assistant\n<think>\n\n</think>\n\n',
    ),
    text,
  );
  assert.doesNotMatch(
    renderPrompt({ ...request, tools: [] }, template, 'hermes')
      .map((segment) => segment.text)
      .join(''),
    /# Tools/,
  );
});

test('a call can only name a tool of the request, and its input follows the schema', () => {
  assert.equal(toolNameGrammar([read]).trimEnd(), String.raw`root ::= " \"read_file\", \"arguments\":"`);
  assert.equal(findNamedTool(' "read_file", "arguments":', [read]), read);
  assert.equal(findNamedTool(' "read_fil', [read]), undefined);
  assert.match(callInputGrammar(read), /^root ::= " " \("\{" .*\)$/m);
});

test('a list of files that never ends is cut off at its bound', async (t) => {
  let sent = 0;
  const server = createServer((_, response) => {
    const chunk = Buffer.alloc(64 * 1024, ' ');
    const send = (): void => {
      while (sent < 100e6 && !response.destroyed && response.write(chunk)) sent += chunk.length;
    };
    response.on('drain', send);
    send();
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  t.after(() => (server.closeAllConnections(), server.close()));
  const { port } = server.address() as AddressInfo;
  await assert.rejects(
    fetchHubFile(parseHubAddress('hf:a/b'), { env: { HF_ENDPOINT: `http://127.0.0.1:${port}` } }),
    /answers, but not as the Hugging Face hub does/,
  );
  assert.ok(sent < 50e6, `${sent} bytes were sent`);
});
