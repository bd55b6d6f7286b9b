// Malformed bytes for listeners: HTTP requests that are not valid, or valid and unusual, and lines that are no message of a protocol.
import { connect, type NetConnectOpts } from 'node:net';

const deepJson = `${'['.repeat(200_000)}${']'.repeat(200_000)}`;

const post = (target: string, body: string, header = ''): string =>
  `POST ${target} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n${header}Content-Length: ${body.length}\r\n\r\n${body}`;

/** HTTP requests that are not valid, or valid and unusual. `target` is a path that the server knows. */
export const malformedRequests = (target: string, header: string): readonly string[] => [
  '\x00\x01\x02\r\n\r\n',
  'GET // HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n',
  'GET http:// HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n',
  'GET /%ff%zz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n',
  'GET / HTTP/1.1\r\nHost: [\r\n\r\n',
  'GET / HTTP/1.1\r\n\r\n',
  'OPTIONS * HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n',
  'TRACE / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n',
  'CONNECT localhost:1 HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n',
  'GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n',
  'GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nCookie: =;;=%;a\r\nOrigin: null\r\nReferer: \xff\r\n\r\n',
  `GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX: ${'a'.repeat(100_000)}\r\n\r\n`,
  `POST ${target} HTTP/1.1\r\nHost: 127.0.0.1\r\n${header}Transfer-Encoding: chunked\r\n\r\nzz\r\n`,
  `POST ${target} HTTP/1.1\r\nHost: 127.0.0.1\r\n${header}Expect: x\r\nTrailer: y\r\nContent-Length: 9\r\n\r\n{`,
  post(target, deepJson, header),
  post(target, `{"model":${deepJson},"messages":${deepJson}}`, header),
  post(target, '{"__proto__":1,"messages":[null,{"role":{}}]}', header),
  post(target, '\x00\xff', header),
];

/** Requests whose client resets the connection at once, without reading a response. */
export const resetRequests = (target: string, header: string): readonly string[] => [
  '',
  'GET / HT',
  `GET ${target} HTTP/1.1\r\nHost: 127.0.0.1\r\n${header}\r\n`.repeat(20),
  `POST ${target} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n${header}Content-Length: 100000\r\n\r\n{"a":`,
  `POST ${target} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n${header}Transfer-Encoding: chunked\r\n\r\n5\r\n{"a":\r\n`,
  post(target, '{"model":"qwen3","stream":true,"messages":[{"role":"user","content":"hi"}]}', header),
];

/** Lines for a protocol of JSON messages: none is a valid message, and none is complete at the end. */
export const malformedLines: readonly string[] = [
  '',
  '\x00\xff\xfe',
  '{',
  'null',
  '42',
  '"text"',
  '[]',
  '[null,{}]',
  '{}',
  '{"jsonrpc":"2.0"}',
  '{"jsonrpc":"1.0","id":1,"method":"initialize"}',
  '{"jsonrpc":"2.0","id":{},"method":"initialize","params":{}}',
  '{"jsonrpc":"2.0","id":"a","method":5}',
  '{"jsonrpc":"2.0","id":"b","method":"initialize","params":null}',
  '{"jsonrpc":"2.0","id":"c","method":"initialize","params":[1]}',
  '{"jsonrpc":"2.0","id":"d","method":"__proto__","params":{"__proto__":{}}}',
  '{"jsonrpc":"2.0","id":99,"result":{}}',
  '{"jsonrpc":"2.0","id":99,"error":null}',
  '{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":7}}',
  `{"jsonrpc":"2.0","id":"e","method":"session/prompt","params":{"sessionId":"x","prompt":${deepJson}}}`,
  'x'.repeat(1_000_000),
];

/** Sends bytes and returns the first reply. The connection is reset then, or, with `reset`, as soon as the bytes are written. */
export const sendBytes = (to: number | string, bytes: string, reset = false): Promise<string> =>
  new Promise((resolve) => {
    const options: NetConnectOpts = typeof to === 'string' ? { path: to } : { port: to, host: '127.0.0.1' };
    const end = (): void => void (typeof to === 'string' ? socket.destroy() : socket.resetAndDestroy());
    const socket = connect(options, () => socket.write(bytes, 'latin1', () => (reset ? end() : undefined)));
    let reply = '';
    socket.setTimeout(20_000, () => socket.destroy());
    socket.on('data', (data) => {
      reply += String(data);
      end();
    });
    socket.on('error', () => socket.destroy());
    socket.on('close', () => resolve(reply));
  });
