// A model server for benchmarks: T tool calls, then text in chunks; answers as fast as it can and prints its URL.
import http from 'node:http';

const settings = { T: 0, chunks: 1 };
let count = 0;

/** How many tool results a request holds, without parsing all of it: a benchmark server must not be the slow part. */
function countToolResults(body: Buffer): number {
  let found = 0;
  for (let at = body.indexOf('"role":"tool"'); at >= 0; at = body.indexOf('"role":"tool"', at + 13)) found++;
  return found;
}

const formatEvent = (base: object, delta: object, finish: string | null = null): string =>
  `data: ${JSON.stringify({ ...base, choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;

function sendReply(response: http.ServerResponse, body: Buffer): void {
  const base = { id: `chatcmpl-${++count}`, object: 'chat.completion.chunk', created: 1, model: 'mock' };
  const usage = { prompt_tokens: 100, completion_tokens: 10, total_tokens: 110 };
  const done = countToolResults(body);
  const calls =
    done < settings.T
      ? [{ index: 0, id: `call_${count}_${done}`, type: 'function', function: { name: 'noop', arguments: '{"i":1}' } }]
      : undefined;
  if (!body.includes('"stream":true')) {
    const message = calls
      ? { role: 'assistant', content: null, tool_calls: calls.map(({ index: _, ...call }) => call) }
      : { role: 'assistant', content: 'done' };
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(
      JSON.stringify({
        ...base,
        object: 'chat.completion',
        choices: [{ index: 0, message, finish_reason: calls ? 'tool_calls' : 'stop' }],
        usage,
      }),
    );
    return;
  }
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const end = `${formatEvent(
    base,
    {},
    calls ? 'tool_calls' : 'stop',
  )}data: ${JSON.stringify({ ...base, choices: [], usage })}\n\ndata: [DONE]\n\n`;
  if (calls) {
    response.end(formatEvent(base, { role: 'assistant', content: null, tool_calls: calls }) + end);
    return;
  }
  void streamChunks(response, base, end);
}

async function streamChunks(response: http.ServerResponse, base: object, end: string): Promise<void> {
  for (let i = 0; i < settings.chunks;) {
    let text = '';
    for (const stop = Math.min(settings.chunks, i + 16); i < stop; i++)
      text += formatEvent(base, { content: `tok${i} ` });
    if (!response.write(text)) await new Promise((resolve) => response.once('drain', resolve));
  }
  response.end(end);
}

const server = http.createServer((request, response) => {
  const pieces: Buffer[] = [];
  request.on('data', (piece: Buffer) => pieces.push(piece));
  request.on('end', () => {
    const body = Buffer.concat(pieces);
    if (request.url === '/__ctl') {
      Object.assign(settings, JSON.parse(body.toString()));
      response.end('{}');
      return;
    }
    sendReply(response, body);
  });
});
server.on('connection', (socket) => socket.setNoDelay(true));
server.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${(server.address() as { port: number }).port}`));
