// A stand-in of the Hugging Face hub on this machine: metadata, ranges, redirects to another host, cut connections, gated repositories; and small GGUF files for it.
import { createHash } from 'node:crypto';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestContext } from 'node:test';

/** A repository of the stand-in. */
export type HubRepo = {
  readonly files: { readonly [path: string]: Buffer };
  readonly license?: string;
  /** The chat template in the metadata. */
  readonly chatTemplate?: string;
  /** The token that may read it. */
  readonly token?: string;
  /** The hash in the metadata instead of the right one. */
  readonly sha256?: string;
};

/** A request that the stand-in received. */
export type HubRequest = {
  readonly host: 'hub' | 'storage';
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
};

/** The stand-in: the hub, and another host that it redirects downloads to. */
export type HubServer = {
  readonly url: string;
  readonly requests: HubRequest[];
  /** Cuts the next download after this many bytes. */
  cutAfter: number | undefined;
  /** Sends nothing more in the next download after this many bytes. */
  holdAfter: number | undefined;
};

const commit = 'c'.repeat(40);

/** Starts the stand-in. */
export async function serveHub(t: TestContext, repos: { readonly [name: string]: HubRepo }): Promise<HubServer> {
  const requests: HubRequest[] = [];
  const send = (body: Buffer, headers: IncomingHttpHeaders, reply: ServerResponse): void => {
    const from = Number(/^bytes=(\d+)-/.exec(headers.range ?? '')?.[1] ?? 0);
    const rest = body.subarray(from);
    reply.writeHead(headers.range === undefined ? 200 : 206, {
      'content-length': rest.length,
      ...(headers.range === undefined ? {} : { 'content-range': `bytes ${from}-${body.length - 1}/${body.length}` }),
    });
    const { cutAfter: cut, holdAfter: hold } = hub;
    hub.cutAfter = undefined;
    hub.holdAfter = undefined;
    if (hold !== undefined) reply.write(rest.subarray(0, hold));
    else if (cut === undefined) reply.end(rest);
    else reply.write(rest.subarray(0, cut), () => setTimeout(() => reply.destroy(), 50));
  };
  const storage = createServer(({ url = '', headers }, reply) => {
    requests.push({ host: 'storage', path: url, headers });
    const [, owner = '', repo = '', ...file] = decodeURIComponent(url).split('/');
    const body = repos[`${owner}/${repo}`]?.files[file.join('/')];
    if (body) send(body, headers, reply);
    else reply.writeHead(404).end();
  });
  const server = createServer(({ url = '', headers }, reply) => {
    requests.push({ host: 'hub', path: url, headers });
    const api = /^\/api\/models\/([^/]+\/[^/]+)\/revision\/main\?blobs=true$/.exec(url)?.[1];
    const [, name, file] = /^\/([^/]+\/[^/]+)\/resolve\/c{40}\/(.+)$/.exec(url) ?? [];
    const repo = repos[api ?? name ?? ''];
    if (!repo) return void reply.writeHead(401).end('{"error":"Repository not found"}');
    if (repo.token !== undefined && headers.authorization !== `Bearer ${repo.token}`)
      return void reply.writeHead(401).end(`{"error":"Access to model ${api ?? name} is restricted."}`);
    if (api === undefined) return void reply.writeHead(302, { location: `${storageUrl}/${name}/${file}` }).end();
    reply.writeHead(200, { 'content-type': 'application/json' });
    return void reply.end(JSON.stringify(describe(api, repo)));
  });
  for (const each of [storage, server]) {
    await new Promise<void>((done) => void each.listen(0, '127.0.0.1', done));
    t.after(() => {
      each.close();
      each.closeAllConnections();
    });
  }
  const storageUrl = `http://localhost:${(storage.address() as AddressInfo).port}`;
  const hub: HubServer = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    cutAfter: undefined,
    holdAfter: undefined,
  };
  return hub;
}

/** The metadata in the form of the hub. */
const describe = (id: string, repo: HubRepo): object => ({
  id,
  sha: commit,
  gated: repo.token === undefined ? false : 'manual',
  ...(repo.license === undefined ? {} : { cardData: { license: repo.license } }),
  ...(repo.chatTemplate === undefined ? {} : { gguf: { chat_template: repo.chatTemplate, context_length: 40_960 } }),
  siblings: [
    { rfilename: 'README.md', size: 10, blobId: 'a' },
    ...Object.entries(repo.files).map(([rfilename, body]) => ({
      rfilename,
      size: body.length,
      blobId: 'b',
      lfs: {
        sha256: repo.sha256 ?? createHash('sha256').update(body).digest('hex'),
        size: body.length,
        pointerSize: 130,
      },
    })),
  ],
});

/** The chat templates of a model that calls tools, of one that does not, and of one that is not supported, shortened. */
export const jinja = {
  tools: '{%- if tools %}<tool_call>{% endif %}<|im_start|>role<|im_end|>{% if enable_thinking %}{% endif %}',
  chat: '{% for m in messages %}<|user|>\n{{ m }}{{ eos_token }}<|assistant|>\n{% endfor %}',
  strange: '{{ messages }}',
};

/** A GGUF file with a header and some bytes in place of weights. */
export function createGguf(chatTemplate: string | undefined, bytes = 300_000): Buffer {
  const text = (value: string): Buffer => Buffer.concat([u64(Buffer.byteLength(value)), Buffer.from(value)]);
  const u32 = (value: number): Buffer => {
    const out = Buffer.alloc(4);
    out.writeUInt32LE(value);
    return out;
  };
  const u64 = (value: number): Buffer => {
    const out = Buffer.alloc(8);
    out.writeBigUInt64LE(BigInt(value));
    return out;
  };
  const entries = [
    [text('general.architecture'), u32(8), text('qwen3')],
    [text('qwen3.context_length'), u32(4), u32(40_960)],
    [text('tokenizer.ggml.tokens'), u32(9), u32(8), u64(3), text('a'), text('b'), text('c')],
    [text('tokenizer.ggml.scores'), u32(9), u32(6), u64(3), u32(0), u32(0), u32(0)],
    [text('tokenizer.ggml.add_bos_token'), u32(7), Buffer.from([0])],
    ...(chatTemplate === undefined ? [] : [[text('tokenizer.chat_template'), u32(8), text(chatTemplate)]]),
  ];
  return Buffer.concat([
    Buffer.from('GGUF'),
    u32(3),
    u64(0),
    u64(entries.length),
    ...entries.flat(),
    Buffer.alloc(bytes, 7),
  ]);
}
