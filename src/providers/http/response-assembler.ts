// Assembles a response from streamed pieces: chunks while it streams, and the complete message at the end. Invalid data is not repaired.
import {
  isObject,
  type ToolCallPart,
  type Chunk,
  type FilePart,
  type FinishReason,
  type Json,
  type ProviderMetadata,
  type MessagePart,
  type Usage,
} from '../../core/index.ts';
import { maxResponseCalls } from '../../wire/index.ts';
import { maxResponseChars, responseTooLargeError, tooManyCallsError, type ProviderInfo } from './errors.ts';

/** The end of a response; `rawFinishReason` is the value of the provider. */
export type ResponseEnd = {
  readonly finishReason: FinishReason;
  readonly rawFinishReason?: string;
  readonly usage: Usage;
  readonly model: string;
  readonly usd?: number;
};

/** A piece of a tool call. Names and arguments are appended to earlier pieces; a repeated complete name is not appended. */
export type ToolCallDelta = {
  readonly id?: string;
  readonly tool?: string;
  /** Arguments as JSON text, or parsed. */
  readonly input?: string | { readonly [key: string]: unknown };
  readonly meta?: ProviderMetadata;
};

/** A response being assembled. Pieces are added in order of arrival; `takeChunks` returns chunks with adjacent deltas joined. */
export interface ResponseAssembler {
  /** Appends to the open text part, or starts one. */
  text(piece: string, meta?: ProviderMetadata): void;
  /** Appends to the open reasoning part, or starts one. */
  reasoning(piece: string, meta?: ProviderMetadata): void;
  /** Ends the open text or reasoning part, so that the next piece starts another. */
  close(): void;
  /** Adds a piece of the tool call with this key; the key is valid for this response. */
  call(key: string | number, piece: ToolCallDelta): void;
  /** Adds a file of the model; it appears in the message only. */
  file(part: FilePart): void;
  /** Counts characters that are kept outside the message until the response ends. */
  count(chars: number): void;
  /** Whether anything but reasoning has arrived. */
  readonly hasContent: boolean;
  /** Ends all parts and creates the `end` chunk. Arguments are parsed here, once. */
  end(ending: ResponseEnd): void;
  /** Returns the chunks since the last call, in order. */
  takeChunks(): readonly Chunk[];
}

type TextDraft = {
  readonly kind: 'text' | 'reasoning';
  readonly index: number;
  text: string;
  meta: ProviderMetadata | undefined;
};
type ToolCallDraft = {
  readonly kind: 'tool-call';
  readonly index: number;
  id: string;
  tool: string;
  input: string;
  started: boolean;
  meta: ProviderMetadata | undefined;
};
type DraftPart = TextDraft | ToolCallDraft | { readonly kind: 'file'; readonly part: FilePart };

/** Whether text and reasoning keep their order (`in-turn`), or form one part each (`apart`), for wire formats with one string for each. */
export type PartOrder = 'in-turn' | 'apart';

/** What a part counts beside its text: a response of many empty parts takes memory too. */
const partChars = 256;

/** Creates an assembler. A response above `maxResponseChars` is an error, so that it cannot exhaust the memory. */
export function createResponseAssembler(providerInfo: ProviderInfo, order: PartOrder = 'in-turn'): ResponseAssembler {
  const pieces: DraftPart[] = [];
  const calls = new Map<string | number, ToolCallDraft>();
  let out: Chunk[] = [];
  const apart: { text?: TextDraft; reasoning?: TextDraft } = {};
  let open: TextDraft | undefined;
  let newText = '';
  let size = 0;

  function addSize(chars: number): void {
    size += chars;
    if (size > maxResponseChars) throw responseTooLargeError(providerInfo);
  }

  function addPart(part: DraftPart): void {
    addSize(partChars);
    pieces.push(part);
  }

  function addMeta(draft: TextDraft | ToolCallDraft, meta: ProviderMetadata | undefined): void {
    if (!meta || meta === draft.meta) return;
    addSize(JSON.stringify(meta.data).length - (draft.meta ? JSON.stringify(draft.meta.data).length : 0));
    draft.meta = meta;
  }

  function flush(): void {
    if (!open || newText === '') return;
    open.text += newText;
    out.push({ type: 'part-delta', index: open.index, text: newText });
    newText = '';
  }

  function close(): void {
    if (!open) return;
    flush();
    if (order === 'in-turn') out.push({ type: 'part-ended', index: open.index });
    open = undefined;
  }

  function openFor(kind: TextDraft['kind']): TextDraft {
    close();
    const resumed = apart[kind];
    if (resumed) return resumed;
    const draft: TextDraft = { kind, index: pieces.length, text: '', meta: undefined };
    if (order === 'apart') apart[kind] = draft;
    addPart(draft);
    out.push({ type: 'part-started', index: draft.index, part: kind });
    return draft;
  }

  function appendText(kind: TextDraft['kind'], piece: string, meta: ProviderMetadata | undefined): void {
    if (open?.kind !== kind) {
      if (piece === '' && !meta) return;
      open = openFor(kind);
    }
    addMeta(open, meta);
    addSize(piece.length);
    newText += piece;
  }

  function startCall(draft: ToolCallDraft): void {
    if (draft.started) return;
    draft.started = true;
    out.push({ type: 'part-started', index: draft.index, part: 'tool-call', id: callIdOf(draft), tool: draft.tool });
  }

  function draftFor(key: string | number): ToolCallDraft {
    const found = calls.get(key);
    if (found) return found;
    if (calls.size >= maxResponseCalls) throw tooManyCallsError(providerInfo, maxResponseCalls);
    close();
    // A call without arguments has had no piece that starts it: parts start in the order of the message.
    for (const earlier of calls.values()) startCall(earlier);
    const draft: ToolCallDraft = {
      kind: 'tool-call',
      index: pieces.length,
      id: '',
      tool: '',
      input: '',
      started: false,
      meta: undefined,
    };
    calls.set(key, draft);
    addPart(draft);
    return draft;
  }

  return {
    text: (piece, meta) => appendText('text', piece, meta),
    reasoning: (piece, meta) => appendText('reasoning', piece, meta),
    close,
    call(key, { id, tool, input, meta }) {
      const draft = draftFor(key);
      if (id && !draft.id) {
        addSize(id.length);
        draft.id = id;
      }
      if (tool && tool !== draft.tool) {
        addSize(tool.length);
        draft.tool += tool;
      }
      addMeta(draft, meta);
      const text = typeof input === 'object' ? JSON.stringify(input) : (input ?? '');
      if (text === '') return;
      addSize(text.length);
      startCall(draft);
      draft.input += text;
      out.push({ type: 'part-delta', index: draft.index, text });
    },
    file(part) {
      close();
      addSize(part.data.length);
      addPart({ kind: 'file', part });
    },
    count: addSize,
    get hasContent() {
      return pieces.some((piece) => piece.kind !== 'reasoning');
    },
    end(ending) {
      close();
      for (const each of [apart.text, apart.reasoning]) if (each) out.push({ type: 'part-ended', index: each.index });
      for (const draft of calls.values()) {
        startCall(draft);
        out.push({ type: 'part-ended', index: draft.index });
      }
      out.push({ type: 'end', message: { role: 'assistant', parts: pieces.map(toPart) }, ...ending });
    },
    takeChunks() {
      flush();
      const taken = out;
      out = [];
      return taken;
    },
  };
}

/** Some servers send calls without an id. */
const callIdOf = (draft: ToolCallDraft): string => draft.id || `call_${draft.index}`;

function toPart(piece: DraftPart): MessagePart {
  if (piece.kind === 'file') return piece.part;
  const meta = piece.meta ? { meta: piece.meta } : {};
  if (piece.kind !== 'tool-call') return { type: piece.kind, text: piece.text, ...meta };
  return { type: 'tool-call', id: callIdOf(piece), tool: piece.tool, ...parseToolInput(piece.input), ...meta };
}

/** Parses arguments, or marks them invalid: repaired arguments could run something else. */
export function parseToolInput(text: string): Pick<ToolCallPart, 'input' | 'invalid'> {
  if (text.trim() === '') return { input: {} };
  try {
    const value = JSON.parse(text) as unknown;
    if (isObject(value)) return { input: value as Json };
  } catch {
    // Invalid JSON is returned as text below.
  }
  return { input: {}, invalid: text };
}
