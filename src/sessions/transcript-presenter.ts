// Presents a session as transcript blocks: converts events and chunks to block updates of a UI.
import {
  cutOffMark,
  formatRetryNotice,
  formatUnconfirmedClaims,
  messageText,
  readReviewNotice,
  parseRetryNotice,
  fromFailure,
  type Chunk,
  type Event,
  type Failure,
  type Message,
  type MessagePart,
  formatError,
} from '../core/index.ts';
import { formatAddedInput, noAddedInputs, splitUserParts, type AddedInputs } from './added-inputs.ts';
import { toCheckedMessage } from './checked-answers.ts';
import { getDiff, type CallRecords } from './call-records.ts';
import type { CallBlock, CallStatus, TranscriptSink } from './transcript-block.ts';

/** The presenter of one session. */
export type TranscriptPresenter = {
  readonly onChunk: (chunk: Chunk) => void;
  readonly onEvent: (event: Event) => void;
  /** Shows the end of the existing history; `records` has the diffs and outcomes of its calls, `added` the texts that the user did not write. */
  readonly replay: (
    messages: readonly Message[],
    maxMessages: number,
    records?: CallRecords,
    added?: AddedInputs,
  ) => void;
};

/** Creates a presenter for a UI; `streams` says whether responses are shown while they arrive. */
export function createTranscriptPresenter(sink: TranscriptSink, streams: () => boolean): TranscriptPresenter {
  let turn = 0;
  let failure: Failure | undefined;
  /** The blocks of the current turn, by part index. */
  const open = new Map<number, { readonly id: string; readonly type: 'assistant' | 'reasoning' }>();
  const calls = new Map<string, CallBlock>();

  /** Whether the open blocks are those of a failed attempt; they stay until the next attempt sends text. */
  let isStale = false;

  const putText = (id: string, type: 'assistant' | 'reasoning', text: string, settled: boolean): void =>
    sink.putBlock({ type, id, text, settled });
  const putAnswer = (id: string, text: string): void => {
    const cut = text.endsWith(cutOffMark);
    sink.putBlock({
      type: 'assistant',
      id,
      text: cut ? text.slice(0, -cutOffMark.length) : text,
      settled: true,
      ...(cut ? { cut } : {}),
    });
  };
  const notice = (event: Event, level: 'info' | 'warning' | 'error', text: string): void =>
    sink.putBlock({ type: 'notice', id: `n${event.seq}`, level, text });
  const removeOpenBlocks = (): void => {
    for (const { id } of open.values()) sink.removeBlock(id);
    open.clear();
    isStale = false;
  };
  /** Keeps the text that the user has read, marked as interrupted. */
  function cutOpenBlocks(event: Event & { readonly type: 'turn-failed' }): void {
    for (const { id, type } of open.values()) if (type === 'reasoning') sink.removeBlock(id);
    const answers = [...open.values()].filter(({ type }) => type === 'assistant');
    for (const { id } of answers.slice(1)) sink.removeBlock(id);
    open.clear();
    isStale = false;
    if (event.partial?.trim()) putAnswer(answers[0]?.id ?? `t${event.turn}.0`, event.partial + cutOffMark);
    else for (const { id } of answers.slice(0, 1)) sink.removeBlock(id);
  }
  function updateCall(id: string, status: CallStatus, changes: Partial<CallBlock> = {}): void {
    const known = calls.get(id);
    if (!known) return;
    const block = { ...known, ...changes, status };
    calls.set(id, block);
    sink.putBlock(block);
  }

  /** The approval is part of the call, so that it is read before the result. The next update of the call shows it. */
  function noteApproval({ call, allowed, by }: Event & { readonly type: 'approval-resolved' }): void {
    const known = calls.get(call);
    if (known && allowed)
      calls.set(call, { ...known, approval: by === 'granted before' ? 'allowed earlier' : 'approved' });
  }

  function onChunk(chunk: Chunk): void {
    if (chunk.type === 'restarted') return void (isStale = true);
    if (!streams()) return;
    if (chunk.type === 'part-started' && isStale) removeOpenBlocks();
    if (chunk.type === 'part-started' && chunk.part !== 'tool-call') {
      const block = { id: `t${turn}.${chunk.index}`, type: chunk.part === 'text' ? 'assistant' : 'reasoning' } as const;
      open.set(chunk.index, block);
      putText(block.id, block.type, '', false);
    }
    if (chunk.type !== 'part-delta') return;
    const block = open.get(chunk.index);
    if (block) sink.appendText(block.id, chunk.text);
  }

  function showMessage(message: Message, idPrefix: string): void {
    message.parts.forEach((part, index) => {
      const id = `${idPrefix}.${index}`;
      if (part.type === 'text' && part.text.trim()) putAnswer(id, part.text);
      else if (part.type === 'reasoning' && part.text.trim()) putText(id, 'reasoning', part.text, true);
      else if (open.has(index)) sink.removeBlock(id);
      if (part.type === 'tool-call')
        calls.set(part.id, {
          type: 'call',
          id: part.id,
          tool: part.tool,
          input: part.invalid ?? part.input,
          status: 'running',
        });
    });
    open.clear();
    isStale = false;
  }

  function showVerdict(event: Event & { readonly type: 'check-ended' }): void {
    const { verdict, check } = event;
    if (verdict.type !== 'abstained' && verdict.claims)
      return notice(
        event,
        'warning',
        formatUnconfirmedClaims(verdict.claims, verdict.type === 'failed' ? 'Sent back to the model' : undefined),
      );
    if (verdict.type !== 'passed')
      return notice(event, 'warning', `The check ${check} ${verdict.type}: ${verdict.why}`);
    if (verdict.text === undefined) return undefined;
    notice(event, 'info', `The check ${check} passed. The answer, with what is not supported struck out:`);
    return putAnswer(`${event.id}.text`, verdict.text);
  }

  function onEvent(event: Event): void {
    switch (event.type) {
      case 'input-received':
        if (event.by !== undefined)
          return notice(event, 'info', formatAddedInput(event.by, formatInputParts(event.parts)));
        if (event.how !== 'continue')
          sink.putBlock({ type: 'user', id: event.id, text: formatInputParts(event.parts), how: event.how });
        return;
      case 'turn-started':
        turn = event.turn;
        return;
      case 'turn-ended':
        return showMessage(event.message, `t${event.turn}`);
      case 'turn-failed':
        cutOpenBlocks(event);
        failure = event.error;
        // An interruption is shown as the end of the run.
        if (failure.code !== 'run/cancelled') notice(event, 'error', formatError(fromFailure(failure)));
        return;
      case 'answer-rejected':
        return notice(event, 'warning', `The answer did not count (${event.why}); it was asked for again.`);
      case 'approval-requested':
        return updateCall(event.call, 'waiting');
      case 'approval-resolved':
        return noteApproval(event);
      case 'tool-started':
        return updateCall(event.call, 'running', event.input === undefined ? {} : { input: event.input });
      case 'tool-ended':
        updateCall(event.call, event.outcome, {
          output: toShownOutput(event.text),
          ms: event.ms,
          ...getDiff(event.data),
        });
        calls.delete(event.call);
        return;
      case 'check-ended':
        return showVerdict(event);
      case 'epoch-started':
        if (event.reason === 'compacted')
          notice(
            event,
            'info',
            'The conversation was compacted: /compact diff shows how, /compact undo takes it back.',
          );
        return;
      case 'compaction-failed':
        return notice(event, 'warning', `The conversation was not compacted: ${event.why}`);
      case 'run-ended':
        if (event.reason !== 'answered' && event.reason !== 'task-complete')
          notice(event, event.reason === 'cancelled' ? 'info' : 'warning', formatRunEnded(event, failure?.message));
        failure = undefined;
        break;
      case 'annotation-added': {
        const retry = parseRetryNotice(event);
        if (retry) notice(event, 'warning', formatRetryNotice(retry));
        const review = readReviewNotice(event);
        if (review !== undefined) notice(event, 'info', review);
        break;
      }
      case 'session-started':
      case 'branch-started':
      case 'run-started':
        break;
    }
  }

  /** A command that the user ran, a note and the words of the user are shown as what they are; reminders are only for the model. */
  function showUserMessage(parts: readonly MessagePart[], idPrefix: string, added: AddedInputs): void {
    splitUserParts(parts, added).forEach((run, index) => {
      const id = `${idPrefix}.${index}`;
      if (!('type' in run)) sink.putBlock({ type: 'user', id, text: formatInputParts(run), how: 'prompt' });
      else if (run.type === 'added')
        sink.putBlock({ type: 'notice', id, level: 'info', text: formatAddedInput(run.by, run.text) });
      else if (run.type === 'command')
        sink.putBlock({
          type: 'call',
          id,
          tool: 'shell',
          input: { command: run.command },
          status: run.code === 0 ? 'ok' : 'failed',
          output: run.output,
        });
    });
  }

  function replay(
    messages: readonly Message[],
    maxMessages: number,
    records: CallRecords = new Map(),
    added: AddedInputs = noAddedInputs,
  ): void {
    const shown = messages.slice(-maxMessages);
    if (shown.length < messages.length)
      sink.putBlock({
        type: 'notice',
        id: 'earlier',
        level: 'info',
        text: `${messages.length - shown.length} earlier messages are not shown: /session show-messages prints them.`,
      });
    shown.forEach((message, i) => {
      const id = `r${i}`;
      if (message.role === 'user') showUserMessage(message.parts, id, added);
      if (message.role === 'assistant') {
        showMessage(toCheckedMessage(message, added), id);
        const claims = added.unconfirmed?.get(messageText(message));
        if (claims)
          sink.putBlock({
            type: 'notice',
            id: `${id}.claims`,
            level: 'warning',
            text: formatUnconfirmedClaims(claims),
          });
      }
      for (const part of message.parts)
        if (part.type === 'tool-result') {
          const { outcome, ...record } = records.get(part.id) ?? {};
          updateCall(part.id, outcome ?? (part.failed ? 'failed' : 'ok'), {
            output: toShownOutput(part.text),
            ...record,
          });
          calls.delete(part.id);
        }
    });
  }
  return { onChunk, onEvent, replay };
}

/** The output without the exit code of a success, which the status of the call shows. */
const toShownOutput = (text: string): string => text.replace(/\n?\[Exit code: 0\.\]$/, '');

/** Formats why a run ended; the last failure was already shown. */
function formatRunEnded({ reason, detail }: Event & { readonly type: 'run-ended' }, shownMessage?: string): string {
  if (reason === 'cancelled') return 'Interrupted. /continue to resume.';
  if (reason === 'provider-error' && detail === shownMessage) return 'The model request failed. /continue to retry.';
  return detail ?? `Stopped: ${reason}.`;
}

const formatInputParts = (parts: readonly MessagePart[]): string =>
  parts
    .map((part, index) => {
      if (part.type === 'file') return `[attached: ${part.name ?? part.mediaType}]`;
      if (part.type !== 'text') return '';
      const attached = index > 0 ? attachedFilePattern.exec(part.text)?.[1] : undefined;
      return attached === undefined ? part.text : `[attached: ${attached}]`;
    })
    .join('\n');

/** The text of an attached file; a view shows its name. */
const attachedFilePattern = /^<outside-text from="((?:[^"\\]|\\.)*)">\n[^]*\n<\/outside-text>$/;
