// One answer put together from its pieces: chunks for whoever watches, and at the end the whole message. Nothing is repaired.
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
import { maxResponseChars, responseTooLargeError, type ProviderInfo } from './errors.ts';

/** How an answer ended, in the provider's words and in ours. */
export type ResponseEnd = {
  readonly finishReason: FinishReason;
  readonly rawFinishReason?: string;
  readonly usage: Usage;
  readonly model: string;
  readonly usd?: number;
};

/** A piece of a tool call. Names and arguments are appended to what came before; a name that comes again whole is the same name. */
export type ToolCallDelta = {
  readonly id?: string;
  readonly tool?: string;
  /** Arguments as JSON text, or already read. */
  readonly input?: string | { readonly [key: string]: unknown };
  readonly meta?: ProviderMetadata;
};

/** An answer in the making. Pieces go in in the order they arrive; chunks come out by `take`, neighbouring deltas joined. */
export interface ResponseAssembler {
  /** Words: continues the open text, or begins one. */
  text(piece: string, meta?: ProviderMetadata): void;
  /** Thinking: continues the open thought, or begins one. */
  reasoning(piece: string, meta?: ProviderMetadata): void;
  /** Ends the open text or thought, so that the next piece begins another. */
  close(): void;
  /** A piece of the tool call known by this key for the time of this answer. */
  call(key: string | number, piece: ToolCallDelta): void;
  /** A file the model made; it appears in the message only. */
  file(part: FilePart): void;
  /** Whether anything but thinking has arrived. */
  readonly hasContent: boolean;
  /** The end: closes every part and makes the `end` chunk. Arguments are read here, once. */
  end(ending: ResponseEnd): void;
  /** The chunks made since the last time, in order. */
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

/** Whether text and thoughts stay in the order they came (`in-turn`), or are one part each however they mix (`apart`), as in dialects that keep two strings. */
export type PartOrder = 'in-turn' | 'apart';

/** Begins an answer. An answer of more than 32 million characters is an error, not a memory problem. */
export function createResponseAssembler(who: ProviderInfo, weave: PartOrder = 'in-turn'): ResponseAssembler {
  const pieces: DraftPart[] = [];
  const calls = new Map<string | number, ToolCallDraft>();
  let out: Chunk[] = [];
  const apart: { text?: TextDraft; reasoning?: TextDraft } = {};
  let open: TextDraft | undefined;
  let fresh = '';
  let size = 0;

  const grow = (text: string): void => {
    size += text.length;
    if (size > maxResponseChars) throw responseTooLargeError(who);
  };

  function flush(): void {
    if (!open || fresh === '') return;
    open.text += fresh;
    out.push({ type: 'part-delta', index: open.index, text: fresh });
    fresh = '';
  }

  function close(): void {
    if (!open) return;
    flush();
    if (weave === 'in-turn') out.push({ type: 'part-ended', index: open.index });
    open = undefined;
  }

  function openFor(kind: TextDraft['kind']): TextDraft {
    close();
    const resumed = apart[kind];
    if (resumed) return resumed;
    const begun: TextDraft = { kind, index: pieces.length, text: '', meta: undefined };
    if (weave === 'apart') apart[kind] = begun;
    pieces.push(begun);
    out.push({ type: 'part-started', index: begun.index, part: kind });
    return begun;
  }

  function words(kind: TextDraft['kind'], piece: string, meta: ProviderMetadata | undefined): void {
    if (open?.kind !== kind) {
      if (piece === '' && !meta) return;
      open = openFor(kind);
    }
    if (meta) open.meta = meta;
    grow(piece);
    fresh += piece;
  }

  function begin(draft: ToolCallDraft): void {
    if (draft.started) return;
    draft.started = true;
    out.push({ type: 'part-started', index: draft.index, part: 'tool-call', id: callIdOf(draft), tool: draft.tool });
  }

  function draftFor(key: string | number): ToolCallDraft {
    const found = calls.get(key);
    if (found) return found;
    close();
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
    pieces.push(draft);
    return draft;
  }

  return {
    text: (piece, meta) => words('text', piece, meta),
    reasoning: (piece, meta) => words('reasoning', piece, meta),
    close,
    call(key, { id, tool, input, meta }) {
      const draft = draftFor(key);
      if (id) draft.id ||= id;
      if (tool && tool !== draft.tool) draft.tool += tool;
      if (meta) draft.meta = meta;
      const text = typeof input === 'object' ? JSON.stringify(input) : (input ?? '');
      if (text === '') return;
      grow(text);
      begin(draft);
      draft.input += text;
      out.push({ type: 'part-delta', index: draft.index, text });
    },
    file(part) {
      close();
      grow(part.data);
      pieces.push({ kind: 'file', part });
    },
    get hasContent() {
      return pieces.some((piece) => piece.kind !== 'reasoning');
    },
    end(ending) {
      close();
      for (const each of [apart.text, apart.reasoning]) if (each) out.push({ type: 'part-ended', index: each.index });
      for (const draft of calls.values()) {
        begin(draft);
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

/** Some servers give their calls no id. */
const callIdOf = (draft: ToolCallDraft): string => draft.id || `call_${draft.index}`;

function toPart(piece: DraftPart): MessagePart {
  if (piece.kind === 'file') return piece.part;
  const meta = piece.meta ? { meta: piece.meta } : {};
  if (piece.kind !== 'tool-call') return { type: piece.kind, text: piece.text, ...meta };
  return { type: 'tool-call', id: callIdOf(piece), tool: piece.tool, ...parseToolInput(piece.input), ...meta };
}

/** Arguments as the model meant them, or marked invalid: guessing at what was meant could run something else. */
export function parseToolInput(text: string): Pick<ToolCallPart, 'input' | 'invalid'> {
  if (text.trim() === '') return { input: {} };
  try {
    const value = JSON.parse(text) as unknown;
    if (isObject(value)) return { input: value as Json };
  } catch {
    // Said below: the raw text is what there is.
  }
  return { input: {}, invalid: text };
}
