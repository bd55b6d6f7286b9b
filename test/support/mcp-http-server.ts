// A small MCP server on loopback, over HTTP, SSE or WebSocket.
import { createHash, randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import type { TestContext } from 'node:test';
import { answerMcpMessage, type McpBehaviour, type McpMessage } from './mcp-server.ts';

/** A recorded request. */
export type RecordedHttpRequest = {
  readonly method: string;
  readonly url: URL;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
  readonly message: McpMessage;
};

/** A running server. */
export type McpHttpServer = {
  readonly url: string;
  readonly requests: RecordedHttpRequest[];
  readonly stop: () => void;
};

/** Handles a request before the server does. Returns true if it responded. */
export type RequestInterceptor = (asked: RecordedHttpRequest, response: ServerResponse) => boolean;

/** Serves over HTTP at `/mcp`, with a session; over SSE at `/sse`; over a WebSocket at `/ws`. */
export async function startMcpHttpServer(
  t: TestContext,
  behaviour: McpBehaviour,
  first: RequestInterceptor = () => false,
): Promise<McpHttpServer> {
  const asked: RecordedHttpRequest[] = [];
  const streams = new Map<string, ServerResponse>();
  const server = createServer((request, response) => void handle(request, response));
  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const url = new URL(request.url ?? '/', 'http://x');
    let body = '';
    for await (const piece of request) body += String(piece);
    const message = body.startsWith('{') ? (JSON.parse(body) as McpMessage) : { jsonrpc: '2.0' as const };
    const one = { method: request.method ?? '', url, headers: request.headers, body, message };
    asked.push(one);
    if (first(one, response)) return;
    if (url.pathname === '/sse') return openSseStream(response, streams);
    if (request.method !== 'POST') return void response.writeHead(405).end();
    const answer = await answerMcpMessage(behaviour, message);
    if (url.pathname === '/post') {
      response.writeHead(202).end();
      if (answer) streams.get(url.search)?.write(`event: message\ndata: ${JSON.stringify(answer)}\n\n`);
    } else if (answer) {
      const session = message.method === 'initialize' ? { 'mcp-session-id': 's1' } : {};
      response.writeHead(200, { 'content-type': 'application/json', ...session }).end(JSON.stringify(answer));
    } else if (message.id === undefined) response.writeHead(202).end();
  };
  server.on('upgrade', (request, socket) =>
    upgradeToWebSocket(request.headers['sec-websocket-key'] ?? '', socket, behaviour),
  );
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const stop = (): void => {
    server.closeAllConnections();
    server.close();
  };
  t.after(stop);
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, requests: asked, stop };
}

function openSseStream(response: ServerResponse, streams: Map<string, ServerResponse>): void {
  const id = `?id=${randomUUID()}`;
  streams.set(id, response);
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.write(`event: endpoint\ndata: /post${id}\n\n`);
}

/** The part of RFC 6455 that text frames need. */
function upgradeToWebSocket(key: string, socket: Duplex, behaviour: McpBehaviour): void {
  const accept = createHash('sha1').update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest('base64');
  socket.write(
    `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Protocol: mcp\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`,
  );
  let rest: Buffer = Buffer.alloc(0);
  const reply = async (text: string): Promise<void> => {
    const answer = await answerMcpMessage(behaviour, JSON.parse(text) as McpMessage);
    if (answer) socket.write(encodeFrame(JSON.stringify(answer)));
  };
  socket.on('error', () => {});
  socket.on('data', (bytes: Buffer) => {
    rest = Buffer.concat([rest, bytes]);
    for (let found = decodeFrame(rest); found; found = decodeFrame(rest)) {
      rest = found.rest;
      if (found.code === 8) return void socket.end();
      void reply(found.text);
    }
  });
}

function encodeFrame(text: string): Buffer {
  const body = Buffer.from(text);
  const head = Buffer.from([0x81, 127, 0, 0, 0, 0, 0, 0, 0, 0]);
  head.writeUInt32BE(body.length, 6);
  return Buffer.concat([head, body]);
}

function decodeFrame(
  bytes: Buffer,
): { readonly code: number; readonly text: string; readonly rest: Buffer } | undefined {
  if (bytes.length < 6) return undefined;
  const short = bytes.readUInt8(1) & 127;
  const at = short === 126 ? 4 : 2;
  const length = short === 126 ? bytes.readUInt16BE(2) : short;
  if (bytes.length < at + 4 + length) return undefined;
  const mask = bytes.subarray(at, at + 4);
  const body = Buffer.from(bytes.subarray(at + 4, at + 4 + length).map((byte, i) => byte ^ (mask[i % 4] ?? 0)));
  return { code: bytes.readUInt8(0) & 15, text: body.toString('utf8'), rest: bytes.subarray(at + 4 + length) };
}
