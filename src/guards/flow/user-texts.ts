// Lists what the user of a session wrote, from the events that the flow policy keeps. A sub-agent has no text of the user.
import type { Event, Json, MessagePart } from '../../core/index.ts';
import { readStoredEvents, subagentAnnotation, type FlowLog } from './flow-log.ts';
import type { FlowSession } from './fold-log.ts';
import { restoreFlowState } from './stored-state.ts';

/** The texts of the user, the latest first. */
export function listUserTexts(log: FlowLog): readonly string[] {
  const texts: string[] = [];
  for (let at: FlowLog | undefined = log; at; at = at.previous) {
    // The policy keeps what it has read; of a sub-agent, the texts of the user of its parent.
    const { state } = (at.read ?? {}) as Partial<FlowSession>;
    if (state) return [...texts, ...state.userTexts];
    if (at.event?.type === 'annotation-added' && at.event.key === subagentAnnotation) return [];
    if (at.event) texts.push(...textOf(at.event));
    if (at.stored !== undefined) texts.push(...readStored(at.stored));
  }
  return texts;
}

function readStored(stored: Json): readonly string[] {
  const raw = readStoredEvents(stored);
  if (raw) return [...raw.events.flatMap(textOf), ...(raw.stored === null ? [] : readStored(raw.stored))];
  return restoreFlowState(stored, {})?.userTexts ?? [];
}

const textOf = (event: Event): readonly string[] =>
  event.type === 'input-received' && event.by === undefined ? event.parts.flatMap(partText) : [];

const partText = (part: MessagePart): readonly string[] => (part.type === 'text' ? [part.text] : []);
