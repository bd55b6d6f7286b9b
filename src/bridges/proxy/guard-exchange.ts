// Data loss prevention in the proxy: values become tokens in requests to the model server, and are restored in its answers, also if a stream divides them.
import { isObject, type Json, type JsonObject } from '../../core/index.ts';
import {
  blockedError,
  countFindings,
  createDlpVault,
  type DlpFinding,
  type DlpPolicy,
  type DlpVault,
} from '../../guards/dlp/index.ts';
import { tryParseJson } from '../../wire/index.ts';
import { changeMultipart, isMultipart } from './multipart.ts';
import { splitSseFrames, findLastFrameEnd } from '../http-intercept/sse.ts';

/** Applies a policy to the requests of callers and the answers to them. */
export type ExchangeGuard = {
  /** Returns the body that may be sent, and what was replaced. Throws `dlp/blocked` if the policy blocks it. */
  guardBody(body: Uint8Array, caller: string | undefined, contentType?: string): GuardedBody;
};

/** A body as it is sent. */
export type GuardedBody = {
  readonly body: Uint8Array;
  /** How many findings of each kind became tokens. */
  readonly counts: Readonly<Record<string, number>>;
  /** How many parts of a multipart body hold no text, so that they were not searched. */
  readonly unscanned?: number;
  /** Restores values in an answer. */
  readonly restore: (chunks: AsyncIterable<Uint8Array>, contentType: string) => AsyncIterable<Uint8Array>;
};

/** Fields that hold no text of a user: names, ids, signed and encoded data. */
const opaqueFields: ReadonlySet<string> = new Set(
  'model type role id name tool_call_id call_id tool_use_id previous_response_id signature thoughtSignature encrypted_content thinking data file_data image_url url mimeType media_type tools functions response_format metadata user'.split(
    ' ',
  ),
);
/** Fields of answers whose text is itself JSON. */
const jsonFields: ReadonlySet<string> = new Set(['arguments', 'partial_json']);
const maxCallers = 256;

/** Creates the guard of a proxy. The values of a caller keep their tokens while the proxy runs; no other caller can restore them. */
export function createExchangeGuard(policy: DlpPolicy): ExchangeGuard {
  const vaults = new Map<string, DlpVault>();
  const seed = crypto.randomUUID();
  const vaultOf = (caller = ''): DlpVault => {
    const vault = vaults.get(caller) ?? createDlpVault(`${seed} ${caller}`);
    vaults.delete(caller);
    vaults.set(caller, vault);
    const [oldest] = vaults.keys();
    if (vaults.size > maxCallers && oldest !== undefined) vaults.delete(oldest);
    return vault;
  };
  return {
    guardBody(body, caller, contentType = '') {
      const vault = vaultOf(caller);
      const restore: GuardedBody['restore'] = (chunks, answerType) =>
        vault.size === 0
          ? chunks
          : /event-stream/i.test(answerType)
            ? restoreStream(chunks, vault)
            : restoreWhole(chunks, vault);
      if (policy.isOff('model')) return { body, counts: {}, restore };
      const replaced: DlpFinding[] = [];
      const blocked: DlpFinding[] = [];
      const change = (text: string): string =>
        policy.scanner.redact(text, (value, finding) => {
          const action = policy.actionFor('model', finding.kind);
          if (action === 'block') blocked.push(finding);
          // No user can be asked here.
          if (action !== 'redact' && action !== 'ask') return value;
          replaced.push(finding);
          return vault.tokenize(value, finding);
        });
      const { body: changed, unscanned = 0 } =
        isMultipart(contentType) && policy.isEnforced('model')
          ? changeMultipart(body, contentType, change)
          : { body: changeJson(body, change) };
      if (blocked.length > 0) throw blockedError(countFindings(blocked), 'a request through the proxy');
      return {
        body: replaced.length === 0 ? body : changed,
        counts: countFindings(replaced),
        unscanned,
        restore,
      };
    },
  };
}

/** A body that is no JSON object stays as it is. */
function changeJson(body: Uint8Array, change: (text: string) => string): Uint8Array {
  const parsed = tryParseJson(Buffer.from(body).toString());
  return isObject(parsed) ? Buffer.from(JSON.stringify(mapTexts(parsed, change))) : body;
}

function mapTexts(value: Json, change: (text: string) => string): Json {
  if (typeof value === 'string') return change(value);
  if (Array.isArray(value)) return value.map((each: Json) => mapTexts(each, change));
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, each]) => [key, opaqueFields.has(key) ? each : mapTexts(each, change)]),
  );
}

/** The values of tokens, as they stand in a text that is JSON. */
const restoreIn = (vault: DlpVault, text: string, isJson: boolean): string =>
  isJson ? vault.restore(text, (value) => JSON.stringify(value).slice(1, -1)) : vault.restore(text);

async function* restoreWhole(chunks: AsyncIterable<Uint8Array>, vault: DlpVault): AsyncGenerator<Uint8Array> {
  const parts: Uint8Array[] = [];
  for await (const chunk of chunks) parts.push(chunk);
  const text = Buffer.concat(parts).toString();
  const parsed = tryParseJson(text);
  yield Buffer.from(
    parsed === undefined ? vault.restore(text) : JSON.stringify(restoreTexts(parsed, (each) => each, vault)),
  );
}

/** Restores each text of a value; `hold` takes the end of a text that may be the start of a token. */
function restoreTexts(
  value: Json,
  hold: (text: string, path: string) => string,
  vault: DlpVault,
  path = '',
  key = '',
): Json {
  if (typeof value === 'string') return restoreIn(vault, hold(value, path), jsonFields.has(key));
  if (Array.isArray(value)) return value.map((each: Json, i) => restoreTexts(each, hold, vault, `${path}[${i}]`, key));
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => [name, restoreTexts(each, hold, vault, `${path}.${name}`, name)]),
  );
}

/** Fields in which a stream sends a text piece by piece. */
const deltaFields = /\.(?:content|text|partial_json|arguments|delta|reasoning_content)$/;

async function* restoreStream(chunks: AsyncIterable<Uint8Array>, vault: DlpVault): AsyncGenerator<Uint8Array> {
  /** Texts that end with what may be the start of a token, with the event that they came with. */
  const held = new Map<string, { readonly rest: string; readonly event: JsonObject; readonly name: string }>();
  let bytes: Buffer = Buffer.alloc(0);
  const write = (name: string, data: Json): Buffer =>
    Buffer.from(`${name === '' ? '' : `event: ${name}\n`}data: ${JSON.stringify(data)}\n\n`);

  /** The events of held texts, except for those that a new event continues. */
  function* release(continued: ReadonlySet<string>): Generator<Buffer> {
    for (const [key, { rest, event, name }] of held) {
      if (continued.has(key)) continue;
      held.delete(key);
      const [path = ''] = key.split(' ');
      const data = restoreTexts(event, (text, at) => (at === path ? rest : deltaFields.test(at) ? '' : text), vault);
      yield write(name, data);
    }
  }

  function* change(frame: Buffer): Generator<Buffer> {
    const text = frame.toString();
    const data = tryParseJson(/^data:(.*)$/m.exec(text)?.[1]?.trim() ?? '');
    if (!isObject(data)) {
      yield* release(new Set());
      yield frame;
      return;
    }
    const name = /^event:[ \t]*(.*)$/m.exec(text)?.[1]?.trim() ?? '';
    const place = `${String(data['index'] ?? '')} ${String(data['output_index'] ?? '')}`;
    const paths = new Set(listDeltas(data).map((path) => `${path} ${place}`));
    yield* release(paths);
    let isChanged = false;
    const changed = restoreTexts(
      data,
      (each, path) => {
        const key = `${path} ${place}`;
        if (!deltaFields.test(path)) return each;
        const whole = `${held.get(key)?.rest ?? ''}${each}`;
        held.delete(key);
        const cut = vault.cutBefore(whole);
        if (cut < whole.length) held.set(key, { rest: whole.slice(cut), event: data, name });
        isChanged = true;
        return whole.slice(0, cut);
      },
      vault,
    );
    yield isChanged || JSON.stringify(changed) !== JSON.stringify(data) ? write(name, changed) : frame;
  }

  for await (const chunk of chunks) {
    bytes = Buffer.concat([bytes, chunk]);
    const end = findLastFrameEnd(bytes);
    for (const { bytes: frame } of splitSseFrames(bytes.subarray(0, end))) yield* change(frame);
    bytes = bytes.subarray(end);
  }
  yield* release(new Set());
  if (bytes.length > 0) yield* change(bytes);
}

/** The paths of the texts of an event that continue a text. */
function listDeltas(value: Json, path = ''): readonly string[] {
  if (typeof value === 'string') return deltaFields.test(path) ? [path] : [];
  if (Array.isArray(value)) return value.flatMap((each: Json, i) => listDeltas(each, `${path}[${i}]`));
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([name, each]) => listDeltas(each, `${path}.${name}`));
}
