// View of the flow policy in another program's loop: what the caller's messages say about where values come from.
import { isObject, type Event, type Json, type NamedView } from '../../core/index.ts';
import { createFlowLogView, unreadableText, type FlowLog } from '../../guards/index.ts';

/** Annotation key of text of unknown origin that the model reads: `{ text, source }`. */
export const untrustedKey = 'guide/untrusted';
/** Annotation key of words that count as typed by the user, besides a message that does not. */
export const wordsKey = 'guide/words';
/** Annotation key of all labels of a history that the caller rewrote. */
export const labelsKey = 'guide/labels';

/** Text of unknown origin. */
export type UntrustedText = { readonly text: string; readonly source: string };

/** The state of the view: the events of the policy, the lines of all system texts, and all tools. */
export type CallerFlowState = {
  readonly log: FlowLog;
  readonly lines?: ReadonlySet<string>;
  readonly tools?: ReadonlySet<string>;
};

/** Creates the view. `toLabels` serializes a text of the configuration; it is called when the policy reads the log. */
export function createCallerFlowView(toLabels: (system: string) => Json): NamedView<CallerFlowState> {
  const inner = createFlowLogView();
  const add = (state: CallerFlowState, event: Event): CallerFlowState => {
    const log = inner.on(state.log, event);
    return log === state.log ? state : { ...state, log };
  };

  /** The first system text and the first tools are configuration, except tools of servers, which have two underscores in their names. What comes later can be anything: a memory, documents that were found, a tool that a server changed. */
  function readEpoch(given: CallerFlowState, event: Event & { readonly type: 'epoch-started' }): CallerFlowState {
    const state = readSystem(given, event);
    const texts = event.tools.map((tool) => JSON.stringify(tool));
    const isNew = event.tools.filter(
      ({ name }, i) => !given.tools?.has(texts[i] ?? '') && (given.tools || name.includes('__')),
    );
    const next = { ...state, tools: new Set([...(given.tools ?? []), ...texts]) };
    return isNew.length === 0 ? next : add(next, { ...event, tools: isNew });
  }

  function readSystem(state: CallerFlowState, event: Event & { readonly type: 'epoch-started' }): CallerFlowState {
    const lines = splitLines(event.system);
    if (!state.lines) {
      const first = { ...state, lines: new Set(lines) };
      if (lines.length === 0) return first;
      const stored: FlowLog = {
        previous: state.log,
        get stored() {
          return toLabels(event.system);
        },
      };
      return { ...first, log: stored };
    }
    const added = lines.filter((line) => !state.lines?.has(line));
    if (added.length === 0) return state;
    const next = { ...state, lines: new Set([...state.lines, ...added]) };
    return add(next, toInput(event, added.join('\n'), 'a later system text'));
  }

  return {
    name: inner.name,
    initial: { log: inner.initial },
    on(state, event) {
      switch (event.type) {
        case 'epoch-started':
          return readEpoch(state, event);
        case 'annotation-added': {
          const { key, value } = event;
          if (key === labelsKey) return { ...state, log: { stored: value, previous: state.log } };
          if (key === wordsKey && typeof value === 'string') return add(state, toInput(event, value));
          if (key !== untrustedKey) return state;
          const { text, source } = isObject(value) ? value : {};
          return add(state, toInput(event, String(text), typeof source === 'string' ? source : 'the caller'));
        }
        case 'input-received': {
          // A block of an unknown kind may hold text.
          const blocks = event.parts.flatMap((part) =>
            part.type === 'file' && part.mediaType === 'application/octet-stream'
              ? [part.data.slice(0, maxBlockChars)]
              : [],
          );
          const next = add(state, event);
          return blocks.length === 0 ? next : add(next, toInput(event, blocks.join('\n'), 'a block of a message'));
        }
        case 'tool-ended':
          // The text of an interrupted call is ours: the caller ran nothing.
          if (event.outcome === 'interrupted') return add(state, { ...event, outcome: 'denied' });
          return event.text.trim() === ''
            ? add(add(state, event), toInput(event, unreadableText, 'a result without text'))
            : add(state, event);
        case 'session-started':
        case 'run-started':
        case 'turn-started':
        case 'turn-ended':
        case 'turn-failed':
        case 'answer-rejected':
        case 'approval-requested':
        case 'approval-resolved':
        case 'tool-started':
        case 'branch-started':
        case 'check-ended':
        case 'compaction-failed':
        case 'run-ended':
        default:
          return add(state, event);
      }
    },
  };
}

const maxBlockChars = 200_000;

const splitLines = (text: string): readonly string[] =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');

/** An input as the policy reads it: of the user, or with the name of another source. */
const toInput = ({ seq, id, parent, time }: Event, text: string, source?: string): Event =>
  ({
    seq,
    id,
    ...(parent === undefined ? {} : { parent }),
    time,
    type: 'input-received',
    input: id,
    how: 'prompt',
    parts: [{ type: 'text', text }],
    ...(source === undefined ? {} : { by: source }),
  }) as Event;
