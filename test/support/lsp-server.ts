// A minimal language server for tests: records that it was started, and returns on hover its environment and whether it sees the file PROBE.
import { appendFileSync, existsSync } from 'node:fs';
import process from 'node:process';

type LspRequest = { readonly id?: number; readonly method?: string };

appendFileSync(process.env['NOTES'] ?? '', 'started\n');

const responders: Readonly<Record<string, () => unknown>> = {
  initialize: () => ({ capabilities: { hoverProvider: true, textDocumentSync: 1 } }),
  'textDocument/hover': () => ({
    contents: `variables: ${Object.keys(process.env).toSorted().join(' ')}; sees the file: ${existsSync(process.env['PROBE'] ?? '')}`,
  }),
};

function respond({ id, method = '' }: LspRequest): void {
  if (method === 'exit') process.exit(0);
  if (id === undefined) return;
  const body = JSON.stringify({ jsonrpc: '2.0', id, result: responders[method]?.() ?? null });
  process.stdout.write(`Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
}

let received = Buffer.alloc(0);
process.stdin.on('data', (bytes: Buffer) => {
  received = Buffer.concat([received, bytes]);
  for (;;) {
    const [head, length] = /^Content-Length: (\d+)\r\n\r\n/.exec(received.toString('latin1')) ?? [];
    if (head === undefined || received.length < head.length + Number(length)) return;
    const end = head.length + Number(length);
    const asked = JSON.parse(received.subarray(head.length, end).toString()) as LspRequest;
    received = received.subarray(end);
    respond(asked);
  }
});
